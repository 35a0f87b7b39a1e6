import type { AzureSimulator } from '../../src/azure-simulator/index.ts';

/** What happens to each event, and the record that it makes. */
export const lifecycle = ['Scheduled', 'Started', 'Completed'] as const;

/** When each event is announced, in seconds since the beginning: every two seconds, for ten minutes. */
const announcements = Array.from({ length: 300 }, (_, index) => index * 2);
/** From one step of an event to the next. */
const stepSeconds = 4;

export interface Timeline {
  /** Announces no further event, and lets those that are open end. @returns the ids of all, when the bridge had time to see the last one end. */
  finish(): Promise<readonly string[]>;
}

/**
 * Plays freezes of a VM that overlap. Of one event, no two steps happen without a poll in between: even a bridge that is not running
 * for a while misses none.
 */
export function playTimeline({ imds }: Pick<AzureSimulator, 'imds'>, vm: string): Timeline {
  const began = performance.now();
  const waiting = [...announcements];
  const eventIds: string[] = [];
  const open = new Map<string, { isStarted: boolean; readonly since: { seconds: number; polls: number } }>();
  const now = () => ({ seconds: (performance.now() - began) / 1000, polls: imds.polls[vm] ?? 0 });
  const isOver = (since: ReturnType<typeof now>): boolean =>
    now().seconds >= since.seconds + stepSeconds && now().polls >= since.polls + 2;

  function step(): void {
    for (const [eventId, { isStarted, since }] of open) {
      if (!isOver(since)) continue;
      if (isStarted) {
        imds.remove(eventId);
        open.delete(eventId);
      } else {
        imds.start(eventId);
        open.set(eventId, { isStarted: true, since: now() });
      }
    }
    while (waiting[0] !== undefined && waiting[0] <= now().seconds) {
      waiting.shift();
      const notBefore = new Date(Date.now() + 900_000);
      const eventId = imds.schedule({ eventType: 'Freeze', resources: [vm], notBefore });
      eventIds.push(eventId);
      open.set(eventId, { isStarted: false, since: now() });
    }
  }

  const timer = setInterval(step, 100);
  return {
    async finish() {
      waiting.length = 0;
      let { polls } = now();
      while (open.size > 0 || now().polls < polls + 2) {
        if (open.size > 0) polls = now().polls;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      clearInterval(timer);
      return eventIds;
    },
  };
}
