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
    ...between('request until the announcement', requested, announced?.observedAt, 'first record of the event'),
    ...between('notice announced', announced?.observedAt, announced?.notBefore, 'first record until NotBefore'),
    ...(last?.noticeSeconds == null
      ? []
      : [{ what: 'notice given', seconds: last.noticeSeconds, detail: 'noticeSeconds' }]),
    ...between('approval until the start', played.approvedAt?.toISOString(), started, 'approve returned until Started'),
    ...(last?.observedOutageSeconds == null
      ? []
      : [
          {
            what: 'outage',
            seconds: last.observedOutageSeconds,
            detail: 'last poll before the restart until the first one after it',
          },
        ]),
    ...(last?.startedSeconds == null
      ? []
      : [{ what: 'listed as started', seconds: last.startedSeconds, detail: 'startedSeconds' }]),
    ...copies.flatMap(({ record, enqueuedAt }) => [
      ...between('delivery to the event hub', record.observedAt, enqueuedAt.toISOString(), record.phase),
      ...between('ingestion into the table', record.observedAt, rows.get(recordKey(record))?.IngestedAt, record.phase),
    ]),
  ];
}
