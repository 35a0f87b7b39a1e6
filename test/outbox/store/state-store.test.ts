import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { OutboxDamaged } from '../../../src/outbox/store/errors.ts';
import { loadObserver, loadRecovery, loadState, writeMeta } from '../../../src/outbox/store/state-store.ts';
import { observerNamed } from '../../support/observations.ts';
import { appendRecords, createHarness, damage, type Harness } from '../harness.ts';

/** A closed outbox in which one event is remembered. */
function stored(): Harness & { readonly db: DatabaseSync } {
  const harness = createHarness();
  const outbox = harness.open();
  outbox.rememberObserver(observerNamed('web_0'), 'boot-1');
  appendRecords(outbox, { eventId: 'A' });
  outbox.close();
  const db = new DatabaseSync(join(harness.directory, 'outbox.sqlite'));
  return {
    ...harness,
    db,
    [Symbol.dispose]() {
      db.close();
      harness[Symbol.dispose]();
    },
  };
}

describe('the state of the lifecycle on disk', () => {
  test('is read as it was written', () => {
    using harness = stored();
    expect(loadState(harness.db)).toMatchObject({ position: 1, events: new Map([['a', { eventId: 'A' }]]) });
    expect(loadObserver(harness.db)).toEqual({ observer: observerNamed('web_0'), bootId: 'boot-1' });
  });

  test.each(['{"at":"2026-01-01T00:00:00', '[]', '{"at":"yesterday","reason":"x","movedTo":"y","salvaged":{}}'])(
    'a note about an earlier damage that is not as it was written is left out: %s',
    (text) => {
      using harness = stored();
      writeMeta(harness.db, 'recovery', text);
      expect(loadRecovery(harness.db)).toBeNull();
      expect(harness.open().storage.fault).toBeNull();
    },
  );

  test.each([
    ['a digit of a time is another', `json = replace(json, '2026', '2006')`],
    ['a key has another name', `json = replace(json, 'firstSeenAt', 'firstS enAt')`],
    ['a flag is another', `json = replace(json, '"open":true', '"open":null')`],
    ['it is not open any more', 'open = 0'],
    ['it is that of another event', `eventKey = 'b'`],
    ['it is nothing', `json = 'null'`],
    ['it is no JSON', `json = '{'`],
  ])('is damaged where of an event %s', (_, change) => {
    using harness = stored();
    damage(harness.db, `UPDATE events SET ${change}`);
    expect(() => loadState(harness.db)).toThrow(OutboxDamaged);
  });

  test.each([
    ['the position is another', `json_set(value, '$.position', 2)`],
    ['a key has another name', `replace(value, 'incarnation', 'incarna ion')`],
    ['there is nothing', `'null'`],
  ])('is damaged where %s', (_, value) => {
    using harness = stored();
    damage(harness.db, `UPDATE meta SET value = ${value} WHERE key = 'lifecycle'`);
    expect(() => loadState(harness.db)).toThrow(OutboxDamaged);
  });

  test('is damaged where the VM has another name', () => {
    using harness = stored();
    damage(harness.db, `UPDATE meta SET value = replace(value, 'web_0', 'web_1') WHERE key = 'observer'`);
    expect(() => loadObserver(harness.db)).toThrow(OutboxDamaged);
  });
});

describe('state written by a version without checksums', () => {
  test('is read without a check, with defaults for the keys that it did not know', () => {
    using harness = stored();
    harness.db.exec(`UPDATE events SET json = json_remove(json, '$.recordedFloor', '$.last.durationSeconds');
      UPDATE meta SET value = json_remove(value, '$.enabled') WHERE key = 'lifecycle'`);
    const { events, enabled } = loadState(harness.db);
    expect(enabled).toBeNull();
    expect(events.get('a')).toMatchObject({ recordedFloor: 0, last: { durationSeconds: null } });
  });

  test.each([
    ['another event', `'{"eventId":"B"}'`],
    ['a list', `'[]'`],
    ['no JSON', `'{'`],
    ['nothing', `'null'`],
  ])('is damaged all the same where an event is %s', (_, json) => {
    using harness = stored();
    harness.db.exec(`UPDATE events SET json = ${json}`);
    expect(() => loadState(harness.db)).toThrow(OutboxDamaged);
  });

  test.each(['null', '5'])('is damaged all the same where the VM is %s', (json) => {
    using harness = stored();
    harness.db.exec(`UPDATE meta SET value = '${json}' WHERE key = 'observer'`);
    expect(() => loadObserver(harness.db)).toThrow(OutboxDamaged);
  });
});
