import type { Log } from '../log.ts';
import type { Outbox } from './outbox.ts';

/** For the end of the process: logs what is still undelivered, and what is lost because it was never written to disk. */
export function logBacklog(outbox: Pick<Outbox, 'retry' | 'backlog' | 'storage'>, log: Log): void {
  outbox.retry();
  for (const { sink, pending, onlyInMemory } of outbox.backlog()) {
    if (pending === 0) continue;
    const records = `${pending} ${pending === 1 ? 'record waits' : 'records wait'} for ${sink}`;
    if (onlyInMemory === 0) log.info({ sink, pending }, `${records}; the next start sends them.`);
    else {
      const why = outbox.storage.fault?.reason ?? '';
      log.error(
        { sink, pending, onlyInMemory },
        `${records}, ${onlyInMemory} in memory only: those are lost now. ${why}`,
      );
    }
  }
}
