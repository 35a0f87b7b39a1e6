import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Verb } from '../../../src/cli/command-context.ts';
import { addEmitTest } from '../../../src/cli/emit-test.ts';
import { addOutbox } from '../../../src/cli/outbox/command.ts';
import { addStatus } from '../../../src/cli/status/command.ts';
import { noProgress } from '../../../src/outbox/outbox.ts';
import { appendRecords, createHarness, type Harness } from '../../outbox/harness.ts';
import { serveStatusOf } from '../../support/served-status.ts';
import { runVerb } from '../outbox/command-line.ts';

const nobodyUid = 65_534;

async function asOtherUser(verb: Verb, args: readonly string[], harness: Harness) {
  process.seteuid?.(nobodyUid);
  try {
    return await runVerb(verb, [...args, '--state-directory', harness.directory]);
  } finally {
    process.seteuid?.(0);
  }
}

/** Modules are loaded by the one who may read them. */
beforeAll(async () => {
  using harness = createHarness();
  filledBy(harness).close();
  const at = ['--state-directory', harness.directory];
  await runVerb(addStatus, ['status', ...at]);
  await runVerb(addStatus, ['status', '--json', ...at]);
  await runVerb(addOutbox, ['outbox', 'list', ...at]);
  await runVerb(addOutbox, ['outbox', 'retry', '--all', ...at]);
  await runVerb(addEmitTest, ['emit-test', ...at]);
});

function filledBy(harness: Harness) {
  const outbox = harness.open({ sinks: ['event-hubs'] });
  appendRecords(outbox, { count: 2 });
  outbox.settle('event-hubs', [{ position: 1, state: 'dead', code: 'http-400', reason: 'no' }], noProgress);
  chmodSync(harness.directory, 0o755);
  for (const name of readdirSync(harness.directory)) chmodSync(join(harness.directory, name), 0o644);
  return outbox;
}

describe.skipIf(process.getuid?.() !== 0)('a user who may only read the state directory', () => {
  test('sees what is on disk, that only the service knows more, and the status after the service stopped', async () => {
    using harness = createHarness();
    const outbox = filledBy(harness);
    const served = await serveStatusOf(outbox, harness.directory);
    const asked = await asOtherUser(addStatus, ['status', '--json'], harness);
    const running = JSON.parse(asked.out);
    expect(running).toMatchObject({
      running: true,
      answer: 'denied',
      verdict: { message: expect.stringMatching(/^Unknown: this user may not query the service/) },
      sinks: [{ name: 'event-hubs', waiting: 1, deadLetters: 1 }],
    });
    expect(asked.reason).toBe('actionRequired');
    await served.close();
    outbox.close();
    const stopped = JSON.parse((await asOtherUser(addStatus, ['status', '--json'], harness)).out);
    expect(stopped).toMatchObject({ running: false, sinks: [{ state: 'stopped', waiting: 1, deadLetters: 1 }] });
    expect(new Set(readdirSync(harness.directory).map((name) => statSync(join(harness.directory, name)).uid))).toEqual(
      new Set([0]),
    );
  });

  test('sees the dead letters, and may change nothing', async () => {
    using harness = createHarness();
    const outbox = filledBy(harness);
    expect((await asOtherUser(addOutbox, ['outbox', 'list', '--state', 'dead'], harness)).out).toContain(
      'http-400: no',
    );
    const ask = ['outbox', 'retry', '--all'];
    const refusal = { reason: 'notDone', message: expect.stringMatching(/ as .* or as root\.$/) };
    expect(await asOtherUser(addOutbox, ask, harness)).toMatchObject(refusal);
    outbox.close();
    expect(await asOtherUser(addOutbox, ask, harness)).toMatchObject(refusal);
    expect(harness.open({ sinks: ['event-hubs'] }).counters()['event-hubs']).toMatchObject({ dead: 1 });
  });

  test('is refused with the reason when even the directory is not readable', async () => {
    using harness = createHarness();
    filledBy(harness);
    chmodSync(harness.directory, 0o700);
    for (const [verb, name] of [
      [addStatus, 'status'],
      [addEmitTest, 'emit-test'],
    ] as const) {
      expect(await asOtherUser(verb, [name], harness)).toMatchObject({
        reason: 'notDone',
        message: expect.stringMatching(/ has no permission to do that in .*: run the command as /),
      });
    }
  });
});
