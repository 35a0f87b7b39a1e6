import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { inWords, tell } from '../support/story.ts';
import { createRig } from './rig.ts';

interface Stored {
  readonly lifecycle: { readonly streamId: string; readonly position: number };
  readonly events: Readonly<Record<string, { readonly open: boolean }>>;
}

/** What a build before moments, snapshots and bookings wrote: rows of the state as they stood in its file. */
const stored: Stored = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/state/before-moments.json'), 'utf8'),
);

function writeOldState(directory: string): void {
  const db = new DatabaseSync(join(directory, 'outbox.sqlite'));
  db.prepare(`UPDATE meta SET value = ? WHERE key = 'lifecycle'`).run(JSON.stringify(stored.lifecycle));
  const put = db.prepare('INSERT INTO events (eventKey, open, json) VALUES (?, ?, ?)');
  for (const [key, memory] of Object.entries(stored.events)) put.run(key, memory.open ? 1 : 0, JSON.stringify(memory));
  db.close();
}

test('an outbox that an earlier build wrote keeps its stream and every event', () => {
  using rig = createRig();
  rig.open().close();
  writeOldState(rig.directory);
  const outbox = rig.open();
  expect(outbox.recovery).toBeNull();
  expect(outbox.state.streamId).toBe(stored.lifecycle.streamId);
  expect(outbox.state.position).toBe(stored.lifecycle.position);
  expect([...outbox.state.events.keys()].sort()).toEqual(Object.keys(stored.events).sort());
  expect(outbox.state.snapshotDue).toBe(false);
  // It goes on from there: what was open ends, what had been absent around a reset too.
  const { records } = tell(
    [
      { events: [], incarnation: 4, after: 400 },
      { events: [], incarnation: 4, after: 400 },
    ],
    {
      state: outbox.state,
    },
  );
  expect(inWords(records).map((words) => words.replace(/:.*/, ''))).toEqual(['Ended', 'Ended', 'Completed']);
  outbox.append(tell([], { state: outbox.state }).state, []);
});
