import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { OutboxDamaged } from '../../src/outbox/errors.ts';
import { loadObserver, loadState } from '../../src/outbox/state-store.ts';
import { observerNamed } from '../support/story.ts';
import { createRig, damage, observe, type Rig } from './rig.ts';

/** A closed outbox in which one event is remembered. */
function stored(): Rig & { readonly db: DatabaseSync } {
  const rig = createRig();
  const outbox = rig.open();
  outbox.rememberObserver(observerNamed('web_0'), 'boot-1');
  observe(outbox, { eventId: 'A' });
  outbox.close();
  const db = new DatabaseSync(join(rig.directory, 'outbox.sqlite'));
  return {
    ...rig,
    db,
    [Symbol.dispose]() {
      db.close();
      rig[Symbol.dispose]();
    },
  };
}

describe('the state of the lifecycle on disk', () => {
  test('is read as it was written', () => {
    using rig = stored();
    expect(loadState(rig.db)).toMatchObject({ position: 1, events: new Map([['a', { eventId: 'A' }]]) });
    expect(loadObserver(rig.db)).toEqual({ observer: observerNamed('web_0'), bootId: 'boot-1' });
  });

  test.each([
    ['a digit of a time is another', `json = replace(json, '2026', '2006')`],
    ['a key has another name', `json = replace(json, 'firstSeenAt', 'firstS enAt')`],
    ['a flag is another', `json = replace(json, '"open":true', '"open":null')`],
    ['it is not open any more', 'open = 0'],
    ['it is that of another event', `eventKey = 'b'`],
    ['it is nothing', `json = 'null'`],
    ['it is no JSON', `json = '{'`],
  ])('is damaged where of an event %s', (_, change) => {
    using rig = stored();
    damage(rig.db, `UPDATE events SET ${change}`);
    expect(() => loadState(rig.db)).toThrow(OutboxDamaged);
  });

  test.each([
    ['the position is another', `json_set(value, '$.position', 2)`],
    ['a key has another name', `replace(value, 'incarnation', 'incarna ion')`],
    ['there is nothing', `'null'`],
  ])('is damaged where %s', (_, value) => {
    using rig = stored();
    damage(rig.db, `UPDATE meta SET value = ${value} WHERE key = 'lifecycle'`);
    expect(() => loadState(rig.db)).toThrow(OutboxDamaged);
  });

  test('is damaged where the VM has another name', () => {
    using rig = stored();
    damage(rig.db, `UPDATE meta SET value = replace(value, 'web_0', 'web_1') WHERE key = 'observer'`);
    expect(() => loadObserver(rig.db)).toThrow(OutboxDamaged);
  });
});

describe('what a version without checksums wrote', () => {
  test('is taken as it stands, with defaults for the keys that it did not know', () => {
    using rig = stored();
    rig.db.exec(`UPDATE events SET json = json_remove(json, '$.recordedFloor', '$.last.durationSeconds');
      UPDATE meta SET value = json_remove(value, '$.enabled') WHERE key = 'lifecycle'`);
    const { events, enabled } = loadState(rig.db);
    expect(enabled).toBeNull();
    expect(events.get('a')).toMatchObject({ recordedFloor: 0, last: { durationSeconds: null } });
  });

  test.each([
    ['another event', `'{"eventId":"B"}'`],
    ['a list', `'[]'`],
    ['no JSON', `'{'`],
  ])('is damaged all the same where an event is %s', (_, json) => {
    using rig = stored();
    rig.db.exec(`UPDATE events SET json = ${json}`);
    expect(() => loadState(rig.db)).toThrow(OutboxDamaged);
  });
});
