import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { test } from '../support/azure-test.ts';
import { runCommand } from '../support/program.ts';
import { play, type Situation } from '../support/situation.ts';
import { openStage, seesDocuments } from '../support/stage.ts';

const situations: readonly Situation[] = [
  {
    name: 'a key is misspelled',
    make: (stage) => stage.configure({ sinks: { eventHub: {} } }),
    message: /^The configuration is wrong: .*sinks\.eventHub.*eventHubs/,
    status: 78,
    check: 78,
    checkPrints: /PROBLEM +read .*did you mean .*eventHubs/i,
    ready: null,
  },
  {
    name: 'no destination is configured',
    make: (stage) => stage.configure({ sinks: {} }),
    message: /^The configuration is wrong: There is no sink/,
    status: 78,
    check: 78,
    ready: null,
  },
  {
    name: 'the outbox was written by a newer major version',
    make: async (stage) => {
      stage.configure({});
      await stage.start();
      await seesDocuments(stage);
      stage.bridge.kill('SIGTERM');
      await stage.bridge.exited;
      const db = new DatabaseSync(join(stage.directory, 'outbox.sqlite'));
      db.exec('PRAGMA user_version = 2000');
      db.close();
    },
    message: /has format 2; this version reads format 1 and has not touched it\. Install/,
    status: 76,
    check: 76,
    ready: null,
  },
];

describe('status and check of a configuration', { concurrent: true }, () => {
  test.for(situations)('$name', async (situation, { azure }) => {
    await using stage = await openStage(azure);
    await play(stage, situation);
  });

  test('there is no configuration file: that comes first, and nothing that follows from it', async () => {
    for (const command of ['run', 'status']) {
      const { code, err } = await runCommand([command]);
      expect({ code, err }).toEqual({
        code: 78,
        err: expect.stringMatching(/^The configuration is wrong: There is no configuration file \/etc\/.*: create it/),
      });
      expect(err).not.toContain('sink');
    }
    const check = await runCommand(['check']);
    expect(check.code).toBe(78);
    expect(check.out).toMatch(/PROBLEM +read +There is no configuration file \/etc\//);
    expect(check.out).not.toContain('There is no sink');
  });
});
