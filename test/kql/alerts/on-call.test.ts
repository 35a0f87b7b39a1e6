import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alertTable, cardsOf } from '../../support/alerts/cards.ts';
import { allAlerts, readAlerts } from '../../support/alerts/read-alerts.ts';
import { type Arriving, arrivingAfter, watch } from '../../support/alerts/watch.ts';
import { fleetNow, fleetRows } from '../../support/fleet-rows/demo-fleet.ts';
import { readTree, root } from '../../support/source-tree.ts';
import { type GivenRow, openKql } from '../../tools/kql/index.ts';

const file = join(root, 'infra/alerts/on-call.md');

/** Compares a generated part of a document with what the code makes, or regenerates it. */
function holdsOrWrites(path: string, mark: string, made: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  const part = new RegExp(`(<!-- ${mark} -->\\n\\n)([\\s\\S]*?)(\\n\\n<!-- /${mark} -->)`);
  expect(text, `${path} holds <!-- ${mark} --> and <!-- /${mark} -->`).toMatch(part);
  if (process.env.UPDATE)
    writeFileSync(
      join(root, path),
      text.replace(part, (_, begin, __, end) => begin + made + end),
    );
  else expect(part.exec(text)?.[2]).toBe(made);
}

const dayMs = 86_400_000;
const daysOfMonth = 30.4;
/** The first day is left out: its bridges have only just been installed. */
const daysWatched = 13;

const alerts = readAlerts();
const fleet = fleetRows();
/** The largest columns. They are left out, which halves the time, because no alert reads them. */
const unread = ['RawEvent', 'Changes', 'ImageReference', 'Sinks'];
const light = (rows: readonly GivenRow[]): GivenRow[] =>
  rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => !unread.includes(name))));

const tables: Arriving = {
  VmLifecycle_CL: arrivingAfter(90, light(fleet.VmLifecycle_CL)),
  VmLifecycleBridge_CL: arrivingAfter(90, light(fleet.VmLifecycleBridge_CL)),
  Heartbeat: [],
  DCRLogErrors: [],
};
const vms = new Set(fleet.VmLifecycleBridge_CL.map(({ VmId }) => VmId)).size;

/** Alerts that the demo fleet raises, on or off, for 1,000 VMs and a month. */
function expectedCounts(): ReadonlyMap<string, number> {
  const kql = openKql({ functionsFrom: ['infra/kql/functions'] });
  const time = { from: new Date(fleetNow.getTime() - daysWatched * dayMs), to: fleetNow };
  const raised = watch(kql, alerts, tables, time);
  const scaled = (count: number): number => Math.round((count * 1000 * daysOfMonth) / (vms * daysWatched));
  const names = [...alerts.rowAlerts, ...alerts.logAlerts].map(({ name }) => name);
  return new Map(names.map((name) => [name, scaled(raised.filter((one) => one.name === name).length)]));
}

test('no alert, and no function, reads the columns that the count of alerts leaves out', () => {
  const texts = [...readTree('infra/kql/functions/*.kql').values(), ...alerts.rowAlerts.map(({ query }) => query)];
  for (const text of [...texts, ...alerts.logAlerts.map(({ query }) => query)]) {
    for (const name of unread)
      expect(text.replaceAll(/^.*project-away.*$/gm, '')).not.toMatch(new RegExp(`\\b${name}\\b`));
  }
});

/** `UPDATE=1 npm run test:unit -- test/kql/alerts/on-call.test.ts` regenerates cards and table. */
test('the cards in infra/alerts/on-call.md are those of the alerts', () => {
  holdsOrWrites('infra/alerts/on-call.md', 'cards', cardsOf(alerts));
});

test('the table in infra/alerts/README.md is that of the alerts, with the counts that the demo fleet gives', () => {
  holdsOrWrites('infra/alerts/README.md', 'table', alertTable(alerts, expectedCounts()));
}, 120_000);

test('every alert has a card with its meaning, its urgency, what to open and what to do', () => {
  const headings = [...readFileSync(file, 'utf8').matchAll(/^## (\S+):/gm)].map(([, name]) => name);
  const all = allAlerts(alerts);
  expect(headings.toSorted()).toEqual(all.map(({ name }) => name).toSorted());
  for (const { name, onCall } of all) {
    for (const words of Object.values(onCall)) expect(words.length, name).toBeGreaterThan(3);
    for (const words of [onCall.meaning, onCall.urgent, onCall.whatToDo]) expect(words, name).toMatch(/[.]$/);
  }
});
