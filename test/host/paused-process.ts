import { systemClock } from '../../src/clock.ts';
import { openHost } from '../../src/host/index.ts';

/** A process that measures itself: for each line on stdin one reading on stdout, or work that keeps the thread. */
const host = openHost({ clock: systemClock });
host.watchImpact(true);
process.stdin.setEncoding('utf8');
process.stdin.on('data', (commands: string) => {
  for (const command of commands.trim().split('\n')) {
    if (command === 'read') console.log(JSON.stringify(host.evidence()));
    if (command === 'work') {
      const startedMs = systemClock.monotonicMs();
      while (systemClock.monotonicMs() - startedMs < 2000);
      host.discountOwnWork(systemClock.monotonicMs() - startedMs);
    }
    if (command === 'unwatch') host.watchImpact(false);
  }
});
process.stdin.on('end', () => host.close());
console.log('ready');
