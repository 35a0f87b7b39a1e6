import { firstCopies, type Played, recordKey, rowKey } from './played.ts';

/** A duration for the report, in seconds. */
export interface Measure {
  readonly what: string;
  readonly seconds: number;
  readonly detail: string;
}

/** What a scenario shows about notice, delivery and ingestion. */
export function measuresOf(played: Played): readonly Measure[] {
  const copies = firstCopies(played.records);
  const rows = new Map(played.rows.map((row) => [rowKey(row), row]));
  const announced = copies.find(({ record }) => record.phase === 'Scheduled')?.record;
  const last = copies.at(-1)?.record;
  const between = (
    what: string,
    from: string | null | undefined,
    to: string | null | undefined,
    detail: string,
  ): Measure[] => (from && to ? [{ what, seconds: (Date.parse(to) - Date.parse(from)) / 1000, detail }] : []);
  const requested = played.requestedAt.toISOString();
  const started = last?.startedAt;
  return [
    ...between(
      'from the request until the event is listed',
      requested,
      announced?.observedAt,
      'first record of the event',
    ),
    ...between(
      'notice announced: from the first record until NotBefore',
      announced?.observedAt,
      announced?.notBefore,
      'first record until NotBefore',
    ),
    ...(last?.noticeSeconds == null
      ? []
      : [
          {
            what: 'notice given: from the first poll that saw the event until it started',
            seconds: last.noticeSeconds,
            detail: 'noticeSeconds',
          },
        ]),
    ...between(
      'from the approval until the start',
      played.approvedAt?.toISOString(),
      started,
      'approve returned until Started',
    ),
    ...(last?.observedOutageSeconds == null
      ? []
      : [
          {
            what: 'outage: from the last poll before the restart until the first one after it',
            seconds: last.observedOutageSeconds,
            detail: 'last poll before the restart until the first one after it',
          },
        ]),
    ...(last?.startedSeconds == null
      ? []
      : [{ what: 'how long an event is listed as Started', seconds: last.startedSeconds, detail: 'startedSeconds' }]),
    ...copies.flatMap(({ record, enqueuedAt }) => [
      ...between(
        'delivery to the event hub, records of scenarios',
        record.observedAt,
        enqueuedAt.toISOString(),
        record.phase,
      ),
      ...between(
        'ingestion into the table, records of scenarios',
        record.observedAt,
        rows.get(recordKey(record))?.IngestedAt,
        record.phase,
      ),
    ]),
  ];
}
