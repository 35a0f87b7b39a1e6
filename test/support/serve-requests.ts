import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { createControlQueue, type Handlers } from '../../src/outbox/control/queue.ts';
import type { Outbox } from '../../src/outbox/outbox.ts';

/** Executes the requests of commands as a service does after each poll, of which there are twenty a second here. */
export function serveRequests(outbox: Pick<Outbox, 'requests' | 'answer'>, handlers: Handlers): AsyncDisposable {
  const stop = new AbortController();
  const queue = createControlQueue({ outbox, handlers, clock: systemClock, log: silentLog });
  const polls = setInterval(queue.executeNew, 50);
  const running = queue.run(stop.signal);
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(polls);
      stop.abort();
      await running;
    },
  };
}
