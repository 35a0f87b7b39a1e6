import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { cleanEnvironment, mainFile } from '../support/program.ts';
import { play, type Situation } from '../support/situation.ts';
import { openStage, seesDocuments } from '../support/stage.ts';

const situations: readonly Situation[] = [
  {
    name: 'a key is misspelled',
    make: (stage) => stage.configure({ sinks: { eventHub: {} } }),
    message: /^The configuration is wrong: .*sinks\.eventHub.*eventHubs/,
    status: 78,
    check: 78,
    checkSays: /PROBLEM +read .*did you mean .*eventHubs/i,
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

describe('what an operator is told of the configuration', () => {
  let azure: AzureSimulator;
  beforeAll(async () => {
    azure = await startAzureSimulator();
  });
  afterAll(() => azure.close());

  test.for(situations)('$name', async (situation) => {
    await using stage = await openStage(azure);
    await play(stage, situation);
  });

  test('there is no configuration file: that comes first, and nothing that follows from it', async () => {
    const { spawnSync } = await import('node:child_process');
    const ended = (command: string) =>
      spawnSync(process.execPath, [mainFile, command], { encoding: 'utf8', env: cleanEnvironment() });
    for (const command of ['run', 'status']) {
      const { status, stderr } = ended(command);
      expect({ status, stderr }).toEqual({
        status: 78,
        stderr: expect.stringMatching(
          /^The configuration is wrong: There is no configuration file \/etc\/.*: create it/,
        ),
      });
      expect(stderr).not.toContain('sink');
    }
    const check = ended('check');
    expect(check.status).toBe(78);
    expect(check.stdout).toMatch(/PROBLEM +read +There is no configuration file \/etc\//);
    expect(check.stdout).not.toContain('There is no sink');
  });
});
