import { expect } from 'vitest';
import { firstCopies } from '../support/delivered.ts';
import { until } from '../support/until.ts';
import type { Scene } from './scene.ts';
import { lifecycle } from './timeline.ts';

/**
 * Ends the timeline, and expects on the event hub and in the table one record for each of its steps, without a gap in their positions;
 * copies may have been sent. @param versions those that made records, in their order.
 */
export async function expectAllRecords({ azure }: Scene, versions: readonly string[]): Promise<void> {
  const eventIds = await azure('finishTimeline');
  const expected = eventIds.flatMap((eventId) => lifecycle.map((phase) => `${eventId} ${phase}`)).toSorted();
  const arrived = async () => firstCopies(await azure('records'));
  const steps = async () => (await arrived()).map(({ eventId, phase }) => `${eventId} ${phase}`).toSorted();
  // The comparison says what is missing.
  await until(async () => (await steps()).length >= expected.length).catch(() => {});
  expect(await steps()).toEqual(expected);

  const records = (await arrived()).toSorted((a, b) => a.position - b.position);
  expect(new Set(records.map(({ streamId }) => streamId)).size).toBe(1);
  expect(records.map(({ position }) => position)).toEqual(
    records.map((_, index) => Number(records[0]?.position) + index),
  );
  const changes = records.map(({ bridgeVersion }) => bridgeVersion).filter((one, n, all) => one !== all[n - 1]);
  expect(changes).toEqual(versions);
  const rows = async () => new Set((await azure('rows')).map(({ RecordId }) => RecordId));
  await until(async () => (await rows()).size >= records.length, { what: 'all rows' });
  expect(await rows()).toEqual(new Set(records.map(({ recordId }) => recordId)));
  const deliveries = (await azure('records')).length;
  process.stdout.write(`${eventIds.length} events, ${records.length} records in ${deliveries} deliveries.\n`);
  expect(await azure('errors')).toEqual([]);
}
