import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDocument } from '../../src/imds/document.ts';
import type { LifecycleRecord } from '../../src/lifecycle/record.ts';
import { fixture } from '../imds/fixture.ts';
import { type ObservationSpec, observe, observerNamed, phaseLines } from '../support/observations.ts';

/** From the text of the answers to the records, without a network: the documents are kept as Azure, or its mock, gave them. */
function read(
  vmName: string,
  from: string,
  names: readonly string[],
  apiVersion = '2020-07-01',
): readonly LifecycleRecord[] {
  const observations = names.map((name): ObservationSpec => {
    const parsed = parseDocument(fixture(name), apiVersion);
    if (parsed.kind !== 'document') throw new Error(`${name}: ${parsed.reason}`);
    return { ...parsed.document, after: 5 };
  });
  return observe(observations, { observer: observerNamed(vmName), from: Date.parse(from) }).records;
}

describe('the documents of others', () => {
  const liveMigration = [1, 2, 3, 4].map(
    (n) => `live-migration-${n}-${['nothing', 'scheduled', 'started', 'gone'][n - 1]}`,
  );
  const inApril = '2022-04-11T22:12:00.000Z';

  test('the live migration of two VMs, as the documents of Azure show it', () => {
    expect(phaseLines(read('WestNO_0', inApril, liveMigration))).toEqual([
      'Scheduled: said-by-azure',
      'Started: said-by-azure',
      'Completed: left-after-started',
    ]);
  });

  /** `UPDATE=1 npm run test:unit -- test/lifecycle/documents.test.ts` regenerates them: a change of them is a change of the contract. */
  test('its records are, to the letter, those that subscribers are promised', () => {
    const file = join(import.meta.dirname, '../fixtures/records/live-migration.json');
    const records = read('WestNO_1', inApril, liveMigration);
    if (process.env.UPDATE) writeFileSync(file, `${JSON.stringify(records, null, 2)}\n`);
    expect(records).toEqual(JSON.parse(readFileSync(file, 'utf8')));
    expect(Object.keys(records[0] ?? {}).sort()).toEqual(Object.keys(JSON.parse(readFileSync(file, 'utf8'))[0]).sort());
  });

  test('the public trace of a real freeze that went from incarnation 2 to 4', () => {
    const names = ['missed-start-1-nothing', 'missed-start-2-scheduled', 'missed-start-4-gone'];
    expect(phaseLines(read('vm-0', '2021-07-20T04:36:00.000Z', names))).toEqual([
      'Scheduled: said-by-azure',
      'Ended: incarnation-gap',
    ]);
  });

  test("Microsoft's mock gives each status another id: each counts as a separate event", () => {
    const names = ['mock-1-fresh', 'mock-5-scheduled', 'mock-6-started-under-another-id', 'mock-7-gone'];
    const records = read('vmss_vm1', '2026-11-21T04:05:00.000Z', names);
    expect(phaseLines(records).sort()).toEqual([
      'Canceled: left-before-not-before superseded',
      'Completed: left-after-started not-before-unknown',
      'Scheduled: said-by-azure',
      'Started: started-without-notice',
    ]);
    expect(new Set(records.map(({ eventId }) => eventId)).size).toBe(2);
  });
});
