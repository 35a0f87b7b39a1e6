import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RecordFilter } from '../../outbox/list-deliveries.ts';

/** The options that select records by their content. */
export interface RecordOptions extends Pick<RecordFilter, 'vm' | 'since' | 'until'> {
  readonly event?: string;
  readonly type?: string;
}

/** Adds {@link RecordOptions}. */
export function addRecordOptions(command: Command): Command {
  return command
    .option('--event <id>', 'only this event')
    .option('--type <type>', 'only events of this type, such as Freeze or Reboot')
    .option('--vm <name>', 'only events that affect this VM')
    .addOption(
      timeOption(
        '--since <time>',
        'only records observed at or after this time: 2026-01-31T09:00Z, or how long ago, such as 90m, 12h, 7d',
      ),
    )
    .addOption(timeOption('--until <time>', 'only records observed at or before this time'));
}

export const recordFilterOf = ({ event, type, vm, since, until }: RecordOptions): RecordFilter => ({
  eventId: event,
  eventType: type,
  vm,
  since,
  until,
});

const timeOption = (flags: string, description: string): Option =>
  new Option(flags, description).argParser((text) => readTime(text, new Date()));

const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A moment of ISO 8601, in UTC unless it names a zone, or how long ago. `words` are what the caller also reads. @throws InvalidArgumentError */
export function readTime(text: string, now: Date, words: readonly string[] = []): Date {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count !== '') return new Date(now.getTime() - Number(count) * (unitsMs[unit] ?? 0));
  const hasForm = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text);
  const moment = new Date(/T[^Z+-]*$/.test(text) ? `${text}Z` : text);
  if (!hasForm || Number.isNaN(moment.getTime())) {
    const expected = [...words, 'a time like 2026-01-31T09:00Z'].join(', ');
    throw new InvalidArgumentError(`expected ${expected}, or how long ago, like 90m, 12h or 7d.`);
  }
  return moment;
}
