import type { Entry, Journal, RunEvent } from '../../../infra/acceptance/journal.ts';

/** A journal in memory. Its times count seconds from the beginning of 2026, or are those of `now`. */
export function memoryJournal(events: readonly RunEvent[] = [], now?: () => Date): Journal {
  const entries: Entry[] = [];
  const write = (event: RunEvent): void => {
    const at = now?.() ?? new Date(Date.UTC(2026, 0, 1) + entries.length * 1000);
    entries.push({ at: at.toISOString(), ...event });
  };
  for (const event of events) write(event);
  return { entries, write, close: () => {} };
}
