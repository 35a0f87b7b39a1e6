import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Verb } from '../../../src/cli/command-context.ts';
import { addEmitTest } from '../../../src/cli/emit-test.ts';
import { addOutbox } from '../../../src/cli/outbox/command.ts';
import { addStatus } from '../../../src/cli/status/command.ts';
import { noProgress } from '../../../src/outbox/outbox.ts';
import { createRig, observe, type Rig } from '../../outbox/rig.ts';
import { serveStatusOf } from '../../support/served-status.ts';
import { runVerb } from '../outbox/command-line.ts';

const nobody = 65_534;

async function asNobody(verb: Verb, args: readonly string[], rig: Rig) {
  process.seteuid?.(nobody);
  try {
    return await runVerb(verb, [...args, '--state-directory', rig.directory]);
  } finally {
    process.seteuid?.(0);
  }
}

/** Modules are loaded by the one who may read them. */
beforeAll(async () => {
  using rig = createRig();
  filledBy(rig).close();
  const at = ['--state-directory', rig.directory];
  await runVerb(addStatus, ['status', ...at]);
  await runVerb(addStatus, ['status', '--json', ...at]);
  await runVerb(addOutbox, ['outbox', 'list', ...at]);
  await runVerb(addOutbox, ['outbox', 'retry', '--all', ...at]);
  await runVerb(addEmitTest, ['emit-test', ...at]);
});

function filledBy(rig: Rig) {
  const outbox = rig.open({ sinks: ['event-hubs'] });
  observe(outbox, { count: 2 });
  outbox.settle('event-hubs', [{ position: 1, outcome: 'dead', code: 'http-400', reason: 'no' }], noProgress);
  chmodSync(rig.directory, 0o755);
  for (const name of readdirSync(rig.directory)) chmodSync(join(rig.directory, name), 0o644);
  return outbox;
}

describe.skipIf(process.getuid?.() !== 0)('a user who may only read the state directory', () => {
  test('is told what is on disk, that only the service knows more, and the status after it stopped', async () => {
    using rig = createRig();
    const outbox = filledBy(rig);
    const served = await serveStatusOf(outbox, rig.directory);
    const asked = await asNobody(addStatus, ['status', '--json'], rig);
    const running = JSON.parse(asked.out);
    expect(running).toMatchObject({
      running: true,
      answer: 'denied',
      verdict: { says: expect.stringMatching(/^Unknown: this user may not ask the service/) },
      sinks: [{ name: 'event-hubs', waiting: 1, deadLetters: 1 }],
    });
    expect(asked.reason).toBe('needsPerson');
    await served.close();
    outbox.close();
    const stopped = JSON.parse((await asNobody(addStatus, ['status', '--json'], rig)).out);
    expect(stopped).toMatchObject({ running: false, sinks: [{ state: 'stopped', waiting: 1, deadLetters: 1 }] });
    expect(new Set(readdirSync(rig.directory).map((name) => statSync(join(rig.directory, name)).uid))).toEqual(
      new Set([0]),
    );
  });

  test('sees the dead letters, and may change nothing', async () => {
    using rig = createRig();
    const outbox = filledBy(rig);
    expect((await asNobody(addOutbox, ['outbox', 'list', '--state', 'dead'], rig)).out).toContain('http-400: no');
    const ask = ['outbox', 'retry', '--all'];
    const refusal = { reason: 'notDone', says: expect.stringMatching(/ as .* or as root\.$/) };
    expect(await asNobody(addOutbox, ask, rig)).toMatchObject(refusal);
    outbox.close();
    expect(await asNobody(addOutbox, ask, rig)).toMatchObject(refusal);
    expect(rig.open({ sinks: ['event-hubs'] }).counters()['event-hubs']).toMatchObject({ dead: 1 });
  });

  test('is told where even that is not allowed', async () => {
    using rig = createRig();
    filledBy(rig);
    chmodSync(rig.directory, 0o700);
    for (const [verb, name] of [
      [addStatus, 'status'],
      [addEmitTest, 'emit-test'],
    ] as const) {
      expect(await asNobody(verb, [name], rig)).toMatchObject({
        reason: 'notDone',
        says: expect.stringMatching(/ may not do that in .*: do it as /),
      });
    }
  });
});
