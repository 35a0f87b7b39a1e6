import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { readOutbox } from '../../../src/outbox/reader.ts';
import { connect } from '../../../src/outbox/store/connection.ts';
import { OutboxTooNew } from '../../../src/outbox/store/errors.ts';
import { majorOf, migrations } from '../../../src/outbox/store/migrate.ts';
import { appendRecords, createHarness, type Harness, positions } from '../harness.ts';

const fileOf = (harness: Harness): string => join(harness.directory, 'outbox.sqlite');

function edit(harness: Harness, sql: string): void {
  const db = new DatabaseSync(fileOf(harness));
  db.exec(sql);
  db.close();
}

const versionOf = (harness: Harness): unknown => {
  const db = new DatabaseSync(fileOf(harness));
  const version = db.prepare('PRAGMA user_version').get()?.user_version;
  db.close();
  return version;
};

test('the formats are in order, and a major starts at zero', () => {
  const numbers = migrations.map(({ userVersion }) => userVersion);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  expect(numbers[0]).toBe(1000);
});

describe('a roll-back', () => {
  test('within a major opens what the newer version wrote, and keeps its additions', () => {
    using harness = createHarness();
    const newer = harness.open();
    appendRecords(newer, { count: 3 });
    newer.close();
    edit(
      harness,
      `PRAGMA user_version = 1007; CREATE TABLE later (a TEXT); INSERT INTO later VALUES ('kept');
       ALTER TABLE records ADD COLUMN later TEXT; ALTER TABLE sinks ADD COLUMN later TEXT; ALTER TABLE deliveries ADD COLUMN later TEXT;
       ALTER TABLE events ADD COLUMN later TEXT; UPDATE sinks SET later = 'kept';`,
    );
    const older = harness.open();
    expect(positions(older, 'hub')).toEqual([1, 2, 3]);
    appendRecords(older);
    older.close();
    expect(versionOf(harness)).toBe(1007);
    const db = new DatabaseSync(fileOf(harness));
    expect(db.prepare('SELECT later FROM sinks').get()).toEqual(expect.objectContaining({ later: 'kept' }));
    db.close();
  });

  test('to an older major is refused, names the version to install, and changes nothing', () => {
    using harness = createHarness();
    const newer = harness.open();
    appendRecords(newer);
    newer.close();
    edit(harness, `PRAGMA user_version = 2003; UPDATE meta SET value = '4.5.6' WHERE key = 'bridgeVersion'`);
    const before = readFileSync(fileOf(harness));
    expect(() => harness.open()).toThrow(OutboxTooNew);
    expect(() => harness.open()).toThrow(
      /has format 2; this version reads format 1 .* Install version 4\.5\.6 or newer/,
    );
    expect(() => readOutbox(harness.directory)).toThrow(OutboxTooNew);
    expect(readFileSync(fileOf(harness))).toEqual(before);
    expect(readdirSync(harness.directory).filter((name) => name.startsWith('corrupt-'))).toEqual([]);
    // The lock is free for the version that can read it.
    edit(harness, 'PRAGMA user_version = 1000');
    expect(positions(harness.open(), 'hub')).toEqual([1]);
  });

  test.each(['before', 'behind'])(
    'to an older major is refused also where its log was damaged after a kill, with the number of its format %s the damage',
    (where) => {
      using newer = createHarness();
      const outbox = newer.open();
      if (where === 'before') edit(newer, 'PRAGMA user_version = 2003');
      for (let n = 0; n < 20; n += 1) appendRecords(outbox);
      if (where === 'behind') edit(newer, 'PRAGMA user_version = 2003');
      appendRecords(outbox);
      using killed = createHarness();
      for (const name of ['outbox.sqlite', 'outbox.sqlite-wal', 'outbox.position']) {
        copyFileSync(join(newer.directory, name), join(killed.directory, name));
      }
      const log = readFileSync(`${fileOf(killed)}-wal`);
      const middle = Math.floor(log.length / 2);
      log.writeUInt8(log.readUInt8(middle) ^ 1, middle);
      writeFileSync(`${fileOf(killed)}-wal`, log);
      const before = readFileSync(fileOf(killed));
      expect(() => killed.open()).toThrow(/has format 2; this version reads format 1/);
      expect(readFileSync(fileOf(killed))).toEqual(before);
      expect(readFileSync(`${fileOf(killed)}-wal`)).toEqual(log);
      expect(readdirSync(killed.directory).filter((name) => /corrupt|replacement|sound/.test(name))).toEqual([]);
    },
  );

  test('to an older major is refused even when the file does not name the version that wrote it', () => {
    using harness = createHarness();
    harness.open().close();
    edit(harness, `PRAGMA user_version = 2000; DROP TABLE meta`);
    expect(() => harness.open()).toThrow(/Install a version that reads format 2/);
  });
});

describe('an upgrade', () => {
  const current = migrations.at(-1)?.userVersion;
  const later = [
    ...migrations,
    { userVersion: 1900, sql: 'ALTER TABLE records ADD COLUMN later TEXT' },
    { userVersion: 2000, sql: 'CREATE TABLE added (a TEXT)' },
  ];

  test('to a new major writes a copy first', () => {
    using harness = createHarness();
    const older = harness.open();
    appendRecords(older, { count: 2 });
    older.close();
    const db = connect(fileOf(harness), '9.0.0', later);
    expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 2000 });
    expect(db.prepare('SELECT count(*) AS n FROM records').get()).toMatchObject({ n: 2 });
    db.close();
    const copy = new DatabaseSync(`${fileOf(harness)}.before-format-2`);
    expect(copy.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: current });
    expect(copy.prepare('SELECT count(*) AS n FROM records').get()).toMatchObject({ n: 2 });
    copy.close();
    expect(() => harness.open()).toThrow('Install version 9.0.0 or newer');
  });

  test('that was interrupted starts again, and makes its copy again', () => {
    using harness = createHarness();
    harness.open().close();
    const broken = later.map((step) => (step.userVersion === 2000 ? { ...step, sql: 'CREATE TABLE' } : step));
    expect(() => connect(fileOf(harness), '9.0.0', broken)).toThrow();
    expect(versionOf(harness)).toBe(current);
    connect(fileOf(harness), '9.0.0', later).close();
    expect(versionOf(harness)).toBe(2000);
  });

  test('within a major makes no copy', () => {
    using harness = createHarness();
    harness.open().close();
    connect(fileOf(harness), '9.0.0', later.slice(0, -1)).close();
    expect(versionOf(harness)).toBe(1900);
    expect(readdirSync(harness.directory).filter((name) => name.includes('before-format'))).toEqual([]);
    expect(majorOf(1900)).toBe(1);
    harness.open();
  });
});
