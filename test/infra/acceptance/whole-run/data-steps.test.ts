import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { post } from '../../../../infra/acceptance/data/post.ts';
import { dataSteps } from '../../../../infra/acceptance/data/steps.ts';
import { createSimulatorTarget } from '../../../../infra/acceptance/simulator-target.ts';
import type { Difference, Finding, StepContext } from '../../../../infra/acceptance/step.ts';
import type { Target } from '../../../../infra/acceptance/target.ts';
import { mainFile } from '../../../support/program.ts';
import { sampleRecord } from '../../../support/sample-record.ts';
import { testDirectory } from '../../../support/test-directory.ts';

let simulator: Target;
beforeAll(async () => {
  simulator = createSimulatorTarget({ program: mainFile });
  const machines = await simulator.machines();
  for (const machine of machines.filter(({ role }) => role === 'single')) await simulator.request('start', machine);
});
afterAll(() => simulator.close());

const steps = dataSteps({ against: 'simulator', windows: false });

/** Runs one step. Returns what it reported. */
async function run(
  id: string,
  target: Target = simulator,
  { signal }: Pick<AbortController, 'signal'> = new AbortController(),
) {
  const step = steps.find((each) => each.id === id);
  if (step === undefined) throw new Error(`There is no step ${id}.`);
  const differences: Difference[] = [];
  const findings: Finding[] = [];
  const measured: string[] = [];
  const context: StepContext = {
    run: {
      id: 'x1',
      subscription: '',
      location: '',
      folder: testDirectory('acceptance'),
      tags: {},
      groups: { platform: '', machines: '' },
    },
    az: { call: () => Promise.reject(new Error('there is no Azure CLI here')) },
    target,
    signal,
    found: new Map(),
    report: (finding) => void findings.push(finding),
    willCreate: () => {},
    differ: (difference) => void differences.push(difference),
    measure: (what) => void measured.push(what),
    say: () => {},
    save: (name) => name,
  };
  await step.run(context);
  return { differences, findings, measured };
}

test.for(steps.map(({ id }) => id))(
  'against the simulator, %s succeeds, without a difference or a finding',
  async (id) => {
    const { differences, findings } = await run(id);
    expect(differences).toEqual([]);
    expect(findings).toEqual([]);
  },
);

describe('a planted error', () => {
  test('in a query is found with the words of the service', async () => {
    const query: Target['query'] = (text) =>
      text.startsWith('// Which events interrupted several VMs')
        ? Promise.reject(new Error("SEM0100: Failed to resolve column 'Members'"))
        : simulator.query(text);
    await expect(run('read-queries', { ...simulator, query })).rejects.toThrow(
      "The queries: query blast-radius: SEM0100: Failed to resolve column 'Members'",
    );
  });

  test('in the result of a function is found as a difference', async () => {
    const query: Target['query'] = async (text) => {
      const result = await simulator.query(text);
      return text === 'VmBridgeCoverage()'
        ? { ...result, rows: result.rows.map((row) => ({ ...row, VmName: 'other' })) }
        : result;
    };
    await expect(run('read-queries', { ...simulator, query })).rejects.toThrow(
      /^The queries: function VmBridgeCoverage: Azure gives \d+ rows that were not expected, such as \{.*"VmName":"other"/,
    );
  });

  test('in a destination that answers 204 and stores nothing is found', async () => {
    const query: Target['query'] = async (text) => {
      const { columns, rows } = await simulator.query(text);
      return { columns, rows: text.includes('IngestedAt') ? rows.slice(1) : rows };
    };
    // It would wait for the row.
    const signal = AbortSignal.timeout(3_000);
    await expect(run('read-tables', { ...simulator, query }, { signal })).rejects.toThrow(
      /is in the hub and not in the table\.$/,
    );
  });

  test('in a column of the table is found', async () => {
    const query: Target['query'] = async (text) => {
      const { columns, rows } = await simulator.query(text);
      return { rows, columns: text.endsWith('take 0') ? [...columns, { name: 'Zone_s', type: 'string' }] : columns };
    };
    await expect(run('read-tables', { ...simulator, query })).rejects.toThrow(
      'has a column Zone_s (string) that was not deployed',
    );
  });

  test('in a bridge that loses a record is found', async () => {
    const readHub: Target['readHub'] = async (since) => {
      const messages = await simulator.readHub(since);
      const newest = Math.max(...messages.map(({ enqueuedAt }) => enqueuedAt.getTime()));
      return messages.filter(({ enqueuedAt }) => enqueuedAt.getTime() < newest);
    };
    await expect(run('refuse-hub-role', { ...simulator, readHub })).rejects.toThrow(
      /^After hub-role-removed: The record \w+ never arrived\.$/,
    );
  });

  // Last: what it sends stays in the hub.
  test('in a message is found: it has no properties and no partition key', async () => {
    const { hub, ca, token } = await simulator.destinations();
    const reply = await post(
      {
        url: `${hub.endpoint}/${hub.eventHubName}/messages`,
        headers: { authorization: `Bearer ${(await token('hub')).token}`, 'content-type': 'application/json' },
        body: JSON.stringify(sampleRecord({ observedAt: new Date().toISOString(), position: 1 })),
      },
      { ca },
    );
    expect(reply.status).toBe(201);
    await expect(run('read-hub')).rejects.toThrow(/^The messages in the hub: partitionKey of the record \w+ is null/);
  });
});
