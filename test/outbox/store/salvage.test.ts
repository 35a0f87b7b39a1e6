import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { appendRecords, createHarness, damage, positions } from '../harness.ts';

/** Pages of this table's leaves, in order. */
function leavesOf(file: string, table: string): number[] {
  const db = new DatabaseSync(file);
  const found = db
    .prepare(`SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path`)
    .all(table)
    .map(({ pageno }) => Number(pageno));
  db.close();
  return found;
}

function ruin(file: string, page: number, byte = 0xee): void {
  const fd = openSync(file, 'r+');
  writeSync(fd, Buffer.alloc(4096, byte), 0, 4096, (page - 1) * 4096);
  closeSync(fd);
}

/** Flips a bit in the row id of the last cell of a leaf: https://www.sqlite.org/fileformat2.html#b_tree_pages */
function flipLastRowId(file: string, page: number, bit: number): void {
  const fd = openSync(file, 'r+');
  const leaf = Buffer.alloc(4096);
  readSync(fd, leaf, 0, 4096, (page - 1) * 4096);
  let at = leaf.readUInt16BE(8 + 2 * (leaf.readUInt16BE(3) - 1));
  const skipVarint = (): void => {
    while (leaf.readUInt8(at) >= 0x80) at += 1;
  };
  skipVarint(); // The size of its payload.
  at += 1;
  skipVarint();
  leaf.writeUInt8(leaf.readUInt8(at) ^ bit, at);
  writeSync(fd, leaf, 0, 4096, (page - 1) * 4096);
  closeSync(fd);
}

test.each([
  [`UPDATE events SET json = replace(json, 'firstSeenAt', 'firstS enAt') WHERE eventKey = 'a'`, ['b'], true],
  [`UPDATE events SET json = replace(json, '2026', '2006') WHERE eventKey = 'a'`, ['b'], true],
  [`UPDATE meta SET value = replace(value, '"position"', '"po ition"') WHERE key = 'lifecycle'`, ['a', 'b'], false],
])('JSON of which a byte went bad costs its row and no others: %s', (ruined, events, stream) => {
  using harness = createHarness();
  const first = harness.open();
  for (const eventId of ['A', 'B']) appendRecords(first, { eventId });
  first.close();
  const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
  damage(db, ruined);
  db.close();
  const outbox = harness.open();
  expect([...outbox.state.events.keys()]).toEqual(events);
  expect(outbox.recovery).toMatchObject({
    reason: expect.stringContaining('not as it was written'),
    salvaged: { stream, events: events.length, records: 2 },
  });
  expect(positions(outbox, 'hub')).toEqual([1, 2]);
});

test.each([
  { table: 'records', saved: { events: 5 } },
  { table: 'events', saved: { records: 200 } },
  { table: 'deliveries', saved: { events: 5, records: 200, lost: 0 } },
])('a ruined page in the middle of $table costs the rows on it and no others', ({ table, saved }) => {
  using harness = createHarness();
  const first = harness.open();
  for (let n = 0; n < 200; n += 1) appendRecords(first, { eventId: `EVENT-${n % 5}` });
  const { streamId } = first.state;
  first.close();
  const file = join(harness.directory, 'outbox.sqlite');
  const leaves = leavesOf(file, table);
  ruin(file, leaves[Math.floor(leaves.length / 2)] ?? 0);

  const outbox = harness.open();
  expect(outbox.state).toMatchObject({ streamId, position: 200 });
  expect(outbox.recovery?.salvaged).toMatchObject({ stream: true, ...saved });
  const { records = 0, lost } = outbox.recovery?.salvaged ?? {};
  expect(records).toBeGreaterThan(100);
  // Known to be due and lost, by the counters of both sinks.
  if (table === 'records') expect([records < 200, lost]).toEqual([true, 2 * (200 - records)]);
  expect(positions(outbox, 'hub')).toHaveLength(records);
  expect(positions(outbox, 'hub').at(-1)).toBe(200);
  expect(outbox.counters().hub).toMatchObject({ accepted: 200, pending: records, expired: 200 - records });
});

test('a ruined first page costs the rows on it and no others, however high their positions are', () => {
  using harness = createHarness();
  const first = harness.open();
  first.append({ ...first.state, position: 5_000_000 }, []);
  for (let n = 0; n < 200; n += 1) appendRecords(first, { eventId: `EVENT-${n % 5}` });
  first.close();
  const file = join(harness.directory, 'outbox.sqlite');
  ruin(file, leavesOf(file, 'records')[0] ?? 0);

  const outbox = harness.open();
  const kept = positions(outbox, 'hub');
  expect(kept.length).toBeGreaterThan(100);
  expect(kept.length).toBeLessThan(200);
  expect(kept).toEqual(kept.map((_, n) => 5_000_201 - kept.length + n));
  expect(outbox.recovery?.salvaged).toMatchObject({ stream: true, events: 5, records: kept.length });
});

test('a ruined page costs the rows on it and no others where positions are far apart', () => {
  using harness = createHarness();
  const first = harness.open();
  for (let n = 0; n < 200; n += 1) {
    first.append({ ...first.state, position: first.state.position + 1_999 }, []);
    appendRecords(first, { eventId: `EVENT-${n % 5}` });
  }
  first.close();
  const file = join(harness.directory, 'outbox.sqlite');
  const leaves = leavesOf(file, 'records');
  ruin(file, leaves[Math.floor(leaves.length / 2)] ?? 0);

  const outbox = harness.open();
  const kept = positions(outbox, 'hub');
  expect(kept.length).toBeGreaterThan(200 - (1.5 * 200) / leaves.length);
  expect(kept.length).toBeLessThan(200);
  expect(kept.at(0)).toBe(2_000);
  expect(kept.at(-1)).toBe(400_000);
});

test('two ruined pages cost the rows on them and none between them', () => {
  using harness = createHarness();
  const first = harness.open();
  for (let n = 0; n < 200; n += 1) appendRecords(first, { eventId: `EVENT-${n % 5}` });
  first.close();
  const file = join(harness.directory, 'outbox.sqlite');
  const leaves = leavesOf(file, 'records');
  expect(leaves.length).toBeGreaterThan(4);
  for (const leaf of [leaves[1], leaves.at(-2)]) ruin(file, leaf ?? 0);

  const outbox = harness.open();
  expect(positions(outbox, 'hub').length).toBeGreaterThan(200 - (2.5 * 200) / leaves.length);
});

test.each([
  ...[0x08, 0x10, 0x20].map((bit) => ({ table: 'events', bit })),
  ...[0x08, 0x10, 0x20].map((bit) => ({ table: 'records', bit })),
])(
  'salvage ends and keeps the other rows when a row id of $table lost bit $bit before a ruined page',
  ({ table, bit }) => {
    using harness = createHarness();
    const first = harness.open();
    for (let n = 0; n < 60; n += 1) appendRecords(first, { eventId: `EVENT-${n}`, count: 5 });
    first.close();
    const file = join(harness.directory, 'outbox.sqlite');
    const leaves = leavesOf(file, table);
    flipLastRowId(file, leaves[1] ?? 0, bit);
    ruin(file, leaves[2] ?? 0, 0xff);

    const outbox = harness.open();
    const { stream, events = 0, records = 0 } = outbox.recovery?.salvaged ?? {};
    const lost = Math.ceil((table === 'events' ? 60 : 300) / (leaves.length - 1)) + 3;
    expect({ stream, events, records }).toEqual({
      stream: true,
      events: expect.any(Number),
      records: expect.any(Number),
    });
    expect(events).toBeGreaterThanOrEqual(table === 'events' ? 60 - lost : 60);
    expect(records).toBeGreaterThanOrEqual(table === 'records' ? 300 - lost : 300);
  },
);
