import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { OutboxDamaged } from '../../src/outbox/errors.ts';
import { loadWholeState } from '../../src/outbox/state-store.ts';
import { createRig, observe, type Rig } from './rig.ts';

/** A closed outbox in which one event is remembered. */
function stored(): Rig & { readonly db: DatabaseSync } {
  const rig = createRig();
  const outbox = rig.open();
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
  test('is whole as it was written', () => {
    using rig = stored();
    expect(loadWholeState(rig.db)).toMatchObject({ position: 1, events: new Map([['a', { eventId: 'A' }]]) });
  });

  test.each([
    ['a key has another name', `replace(json, 'firstSeenAt', 'firstS enAt')`],
    ['a phase is none', `replace(json, '"phase":"S', '"phase":"s')`],
    ['a flag is a text', `json_set(json, '$.open', 'true')`],
    ['a number is none', `json_set(json, '$.sequence', null)`],
    ['a number is negative', `json_set(json, '$.sequence', -1)`],
    ['a time is none', `json_set(json, '$.firstSeenAt', '20x6-01-01T00:00:00.000Z')`],
    ['the event itself is missing', `json_remove(json, '$.last')`],
    ['a field of the event is missing', `json_remove(json, '$.last.durationSeconds')`],
    ['a name of a VM is a number', `json_set(json, '$.last.resources', json('[5]'))`],
    ['what was recorded is no number', `json_set(json, '$.recorded', json('{"a":"1"}'))`],
    ['an absence has no facts', `json_set(json, '$.absent', json('{"since":"2026-01-01","incarnation":1}'))`],
    ['it is that of another event', `json_set(json, '$.eventId', 'B')`],
    ['it is a list', `'[]'`],
    ['it is nothing', `'null'`],
    ['it is no JSON', `'{'`],
  ])('is damaged where of an event %s', (_, json) => {
    using rig = stored();
    rig.db.exec(`UPDATE events SET json = ${json}`);
    expect(() => loadWholeState(rig.db)).toThrow(OutboxDamaged);
  });

  test.each([
    ['the position is missing', `json_remove(value, '$.position')`],
    ['the position is no whole number', `json_set(value, '$.position', 1.5)`],
    ['the stream has no name', `json_set(value, '$.streamId', 5)`],
    ['the last document came at no time', `json_set(value, '$.lastDocumentAt', 'never')`],
    ['a key has another name', `replace(value, 'incarnation', 'incarna ion')`],
    ['there is nothing', `'null'`],
  ])('is damaged where %s', (_, value) => {
    using rig = stored();
    rig.db.exec(`UPDATE meta SET value = ${value} WHERE key = 'lifecycle'`);
    expect(() => loadWholeState(rig.db)).toThrow(OutboxDamaged);
  });
});
