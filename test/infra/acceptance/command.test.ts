import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readJournal } from '../../../infra/acceptance/journal.ts';
import type { Step, StepContext } from '../../../infra/acceptance/step.ts';
import { testDirectory } from '../../support/test-directory.ts';
import { fewAssumptions, startCommand } from './command.ts';
import {
  createFakeAzure,
  emptyState,
  type FakeAzure,
  type FakeState,
  groupId,
  resourceId,
  subscriptionId,
  workspaceId,
} from './fake-azure.ts';
import { fakeStep } from './fake-step.ts';

const inAzure = ['--subscription', 'Contoso test', '--location', 'westeurope'];

/** What belongs to others in the subscription. */
const others = (): FakeState => ({
  ...emptyState(),
  groups: [{ id: groupId('rg-production'), name: 'rg-production', tags: { owner: 'web' } }],
  resources: [{ id: resourceId('rg-production', 'web'), name: 'web', tags: null }],
  deployments: [{ name: 'vm-lifecycle', state: 'Succeeded' }],
  roleAssignments: ['/subscriptions/x/roleAssignments/1'],
});

const assumption = fewAssumptions[0]?.id ?? '';

/** Steps that create what a run creates, in `azure`; `during` is called within each of them. */
function creatingSteps(
  azure: FakeAzure,
  during: (step: string, context: StepContext) => void = () => {},
): readonly Step[] {
  const { state } = azure;
  const step = (id: string, needs: string[], create: (context: StepContext) => Promise<void>, fields?: Partial<Step>) =>
    fakeStep(id, {
      needs,
      run: async (context) => {
        await create(context);
        during(id, context);
        context.signal.throwIfAborted();
      },
      ...fields,
    });
  return [
    step(
      'login',
      [],
      async ({ az, run }) => void (await az.call(['account', 'show', '--subscription', run.subscription])),
      {
        phase: 'prepare',
      },
    ),
    step('platform', ['login'], async ({ run, willCreate, az }) => {
      const name = `seb-${run.id}-platform`;
      willCreate({ kind: 'deployment', name });
      await az.call(['account', 'show', '--subscription', run.subscription]);
      state.deployments.push({ name, state: 'Running' });
      state.groups.push({ id: groupId(run.groups.platform), name: run.groups.platform, tags: run.tags });
      azure.onCall();
      state.resources.push({ id: workspaceId(run.groups.platform, 'log-seb'), name: 'log-seb', tags: run.tags });
      azure.onCall();
      state.deployments = state.deployments.map((one) => (one.name === name ? { name, state: 'Succeeded' } : one));
    }),
    step('role', ['platform'], async ({ run, willCreate }) => {
      const id = `/subscriptions/${run.subscription}/providers/Microsoft.Authorization/roleAssignments/${run.id}`;
      willCreate({ kind: 'role-assignment', id });
      azure.onCall();
      state.roleAssignments.push(id);
      azure.onCall();
    }),
    step('vm', ['login'], async ({ run, found, report }) => {
      state.groups.push({ id: groupId(run.groups.machines), name: run.groups.machines, tags: run.tags });
      azure.onCall();
      state.resources.push({ id: resourceId(run.groups.machines, 'vm'), name: 'vm', tags: null });
      found.set('vm', { name: 'vm' });
      report({ assumption, verdict: 'proven', evidence: `seen in ${run.subscription}` });
    }),
    step('restart', ['vm'], async ({ measure }) => measure('notice given', 900, 'vm'), { phase: 'events' }),
    step('tables', ['platform'], async () => {}, { phase: 'read' }),
  ];
}

const theRun = (folder: string): string => {
  const [id = ''] = readdirSync(folder);
  return id;
};
const reportIn = (folder: string) => ({
  text: readFileSync(join(folder, theRun(folder), 'acceptance.md'), 'utf8'),
  json: JSON.parse(readFileSync(join(folder, theRun(folder), 'acceptance.json'), 'utf8')),
});

test('a run carries out every step, removes everything and writes the report', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure(others());
  const command = startCommand([...inAzure, '--folder', folder], { azure, steps: creatingSteps(azure) });
  expect(await command.ended).toBe(0);
  expect(azure.state).toEqual(others());
  const { text, json } = reportIn(folder);
  expect(json.steps.map((step: { outcome: { result: string } }) => step.outcome.result)).toEqual(
    Array(6).fill('succeeded'),
  );
  expect(json.cleanUp).toEqual({ state: 'done', left: [] });
  expect(text).toContain(`\`${assumption}\``);
  expect(command.printed()).toContain('The run finished: 6 of 6 steps succeeded. Assumptions: 1 proven, 0 refuted, ');
  expect(command.printed()).toContain(join(folder, theRun(folder), 'acceptance.md'));
});

test('the report does not have the id of the subscription, and the journal has', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  await startCommand([...inAzure, '--folder', folder], { azure, steps: creatingSteps(azure) }).ended;
  const { text, json } = reportIn(folder);
  expect(text + JSON.stringify(json)).not.toContain(subscriptionId);
  expect(json.run.subscription).toMatch(/^facade00-/);
  expect(text).toContain(`seen in ${json.run.subscription}`);
  expect(JSON.stringify(readJournal(join(folder, theRun(folder))))).toContain(subscriptionId);
});

test('a failed step ends with exit code 4, a refuted assumption with 5, and both are in the report', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  const failing = fakeStep('quota', { run: () => Promise.reject(new Error('QuotaExceeded: no cores')) });
  const refuting = fakeStep('refute', {
    run: async ({ report }) => report({ assumption, verdict: 'refuted', evidence: 'the column is missing' }),
  });
  expect(await startCommand([...inAzure, '--folder', join(folder, 'a')], { azure, steps: [failing] }).ended).toBe(4);
  const steps = [failing, refuting];
  expect(await startCommand([...inAzure, '--folder', join(folder, 'b')], { azure, steps }).ended).toBe(5);
  expect(reportIn(join(folder, 'b')).text).toMatch(
    /## Refuted[\s\S]*the column is missing[\s\S]*QuotaExceeded: no cores/,
  );
});

test('what is left ends with exit code 20, also when steps failed, and the last lines have the command', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  azure.refuse('group delete', 'ScopeLocked: a lock');
  const steps = [...creatingSteps(azure), fakeStep('bad', { run: () => Promise.reject(new Error('no')) })];
  const command = startCommand([...inAzure, '--folder', folder], { azure, steps });
  expect(await command.ended).toBe(20);
  expect(command.printed()).toMatch(
    /Left: the group rg-seb-acceptance-\w+-platform\n {2}why: .*ScopeLocked: a lock\n {2}remove: az group delete/,
  );
  expect(reportIn(folder).text).toContain('ScopeLocked: a lock');
});

test('--keep removes nothing, and says how to do it later', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  const command = startCommand([...inAzure, '--folder', folder, '--keep'], { azure, steps: creatingSteps(azure) });
  expect(await command.ended).toBe(0);
  expect(azure.state.groups).toHaveLength(2);
  const id = theRun(folder);
  expect(command.printed()).toContain(`--clean-up ${id} --folder ${folder}`);
  expect(reportIn(folder).json.cleanUp.state).toBe('kept');

  const later = startCommand(['--clean-up', '--folder', folder], { azure });
  expect(await later.ended).toBe(0);
  expect(azure.state).toEqual(emptyState());
  expect(reportIn(folder).json.cleanUp).toEqual({ state: 'done', left: [] });
  expect(reportIn(folder).text).toContain('Nothing is left in the subscription.');
});

const phasesOfARun = ['login', 'platform', 'role', 'vm', 'restart', 'tables'];

test.for(phasesOfARun)(
  'Ctrl-C while %s is running ends it, removes everything and writes the report',
  async (during) => {
    const folder = testDirectory('acceptance');
    const azure = createFakeAzure(others());
    const steps = creatingSteps(azure, (step) => step === during && command.send('SIGINT'));
    const command = startCommand([...inAzure, '--folder', folder], { azure, steps });
    expect(await command.ended).toBe(130);
    expect(azure.state).toEqual(others());
    const { json, text } = reportIn(folder);
    expect(json.run.state).toBe('interrupted');
    const outcomes = json.steps.map((step: { id: string; outcome: { result: string } }) => [
      step.id,
      step.outcome.result,
    ]);
    const at = phasesOfARun.indexOf(during);
    expect(outcomes).toEqual(phasesOfARun.map((id, index) => [id, index < at ? 'succeeded' : 'interrupted']));
    expect(text).toContain('Nothing is left in the subscription.');
    expect(command.exits).toEqual([]);
  },
);

test.for([
  { signal: 'SIGTERM', code: 143 },
  { signal: 'SIGHUP', code: 129 },
  { signal: 'SIGBREAK', code: 149 },
] as const)('$signal ends a run like Ctrl-C', async ({ signal, code }) => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  const steps = creatingSteps(azure, (step) => step === 'vm' && command.send(signal));
  const command = startCommand([...inAzure, '--folder', folder], { azure, steps });
  expect(await command.ended).toBe(code);
  expect(azure.state).toEqual(emptyState());
});

test('a second Ctrl-C ends at once, kills what is running and says how to clean up', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  const steps = creatingSteps(azure, (step) => {
    if (step !== 'vm') return;
    command.send('SIGINT');
    command.send('SIGINT', 2_000);
  });
  const command = startCommand([...inAzure, '--folder', folder], { azure, steps });
  await command.ended;
  expect(command.exits).toEqual([130]);
  expect(command.killed()).toBe(true);
  expect(command.printed()).toContain(`npm run acceptance -- --clean-up ${theRun(folder)} --folder ${folder}`);
});

test('Ctrl-C during the clean-up does not end it', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure(others());
  const command = startCommand([...inAzure, '--folder', folder], { azure, steps: creatingSteps(azure) });
  azure.onCall = () => {
    if (azure.calls.at(-1)?.[1] !== 'delete') return;
    azure.onCall = () => {};
    command.send('SIGINT');
  };
  expect(await command.ended).toBe(130);
  expect(azure.state).toEqual(others());
});

/** What is on disk and in the subscription at one moment: all that is left after `kill -9`. */
interface Moment {
  readonly journal: string;
  readonly state: FakeState;
}

/** Every moment of a run, before and after each change in the subscription. */
async function momentsOfARun(): Promise<{ readonly id: string; readonly moments: readonly Moment[] }> {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure(others());
  const moments: Moment[] = [];
  azure.onCall = () => {
    const id = readdirSync(folder)[0];
    if (id === undefined) return;
    moments.push({
      journal: readFileSync(join(folder, id, 'journal.jsonl'), 'utf8'),
      state: structuredClone(azure.state),
    });
  };
  await startCommand([...inAzure, '--folder', folder], { azure, steps: creatingSteps(azure) }).ended;
  return { id: theRun(folder), moments };
}

test('after a crash at any moment, --clean-up removes everything and completes the report', async () => {
  const { id, moments } = await momentsOfARun();
  expect(moments.length).toBeGreaterThan(40);
  for (const [at, { journal, state }] of moments.entries()) {
    const folder = join(testDirectory('acceptance'), 'runs');
    mkdirSync(join(folder, id), { recursive: true });
    // Every other time, the crash leaves half of a line.
    writeFileSync(join(folder, id, 'journal.jsonl'), at % 2 === 0 ? journal : `${journal}{"event":"will-cre`);
    if (journal.includes('"event":"clean-up-ended"')) continue;
    const azure = createFakeAzure(structuredClone(state));
    const command = startCommand(['--clean-up', '--folder', folder], { azure });
    expect([at, await command.ended, command.errors()]).toEqual([at, 0, '']);
    expect(azure.state, `moment ${at}`).toEqual(others());
    expect(reportIn(folder).json.cleanUp, `moment ${at}`).toEqual({ state: 'done', left: [] });
  }
});

test('--clean-up without an id refuses a run whose process lives, and takes it when that has ended', async () => {
  const { id, moments } = await momentsOfARun();
  const full = moments.findLast(({ state }) => state.groups.length === 3);
  if (full === undefined) throw new Error('the run never had both groups');
  const folder = join(testDirectory('acceptance'), 'runs');
  const azure = createFakeAzure(structuredClone(full.state));
  const journalOf = (pid: number): void => {
    mkdirSync(join(folder, id), { recursive: true });
    writeFileSync(join(folder, id, 'journal.jsonl'), full.journal.replace(`"pid":${process.pid}`, `"pid":${pid}`));
    writeFileSync(join(folder, id, 'vm.secrets.json'), '{"adminPassword":"x"}');
  };
  journalOf(process.ppid);
  const refused = startCommand(['--clean-up', '--folder', folder], { azure });
  expect(await refused.ended).toBe(2);
  expect(refused.errors()).toContain(`end its process ${process.ppid} by Ctrl-C`);
  expect(azure.state.groups).toHaveLength(3);
  // The highest number that Linux gives is 2 ** 22.
  journalOf(2 ** 30);
  expect(await startCommand(['--clean-up', '--folder', folder], { azure }).ended).toBe(0);
  expect(azure.state).toEqual(others());
  expect(readdirSync(join(folder, id))).not.toContain('vm.secrets.json');
});

test('another machine cleans up by the tag, without the journal', async () => {
  const { id, moments } = await momentsOfARun();
  const full = moments.findLast(({ state }) => state.groups.length === 3);
  if (full === undefined) throw new Error('the run never had both groups');
  const azure = createFakeAzure(structuredClone(full.state));
  const folder = testDirectory('acceptance');
  const asked = startCommand(['--clean-up', '--folder', folder, '--subscription', 'Contoso test'], { azure });
  expect(await asked.ended).toBe(2);
  expect(asked.errors()).toContain(`--clean-up ${id}`);
  const named = ['--clean-up', id, '--folder', folder, '--subscription', 'Contoso test'];
  expect(await startCommand(named, { azure }).ended).toBe(0);
  expect({ ...azure.state, roleAssignments: [] }).toEqual({ ...others(), roleAssignments: [] });
});

test('--clean-up after a run that has left nothing says so, and where it looked', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure(others());
  await startCommand([...inAzure, '--folder', folder], { azure, steps: creatingSteps(azure) }).ended;
  const here = startCommand(['--clean-up', '--folder', folder], { azure });
  expect([await here.ended, here.errors()]).toEqual([0, '']);
  expect(here.printed()).toContain(`Nothing to remove: no run in ${folder} has left anything.`);
  const there = startCommand(['--clean-up', '--subscription', 'Contoso test', '--folder', folder], { azure });
  expect([await there.ended, there.errors()]).toEqual([0, '']);
  expect(there.printed()).toBe(
    'Nothing to remove: no run has left a resource group in the subscription Contoso test.\n',
  );
  expect(azure.state).toEqual(others());
});

test('--clean-up without an id refuses to choose between several runs', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  for (const _ of [1, 2]) {
    await startCommand([...inAzure, '--folder', folder, '--keep'], { azure, steps: creatingSteps(azure) }).ended;
  }
  const command = startCommand(['--clean-up', '--folder', folder], { azure });
  expect(await command.ended).toBe(2);
  for (const id of readdirSync(folder)) expect(command.errors()).toContain(id);
  expect(azure.state.groups).toHaveLength(4);
});

test('a run against the simulator calls no az and leaves nothing to remove', async () => {
  const folder = testDirectory('acceptance');
  const steps = [
    fakeStep('restart', {
      phase: 'events',
      run: async ({ report }) => report({ assumption, verdict: 'proven', evidence: 'simulated' }),
    }),
  ];
  const command = startCommand(['--against', 'simulator', '--folder', folder], { azure: undefined, steps });
  expect(await command.ended).toBe(0);
  const { text, json } = reportIn(folder);
  expect(text).toContain('proves nothing about Azure');
  expect(json.assumptions.every((one: { verdict: string }) => one.verdict === 'not reached')).toBe(true);
});

test.for([
  { args: [], message: '--subscription is missing' },
  { args: ['--subscription', 'x'], message: '--location is missing' },
  { args: ['--plan', '--only', 'logn'], message: 'There is no step logn. Did you mean login?' },
  { args: [...inAzure, '--only', 'a b'], message: 'Expected ids of steps' },
  { args: [...inAzure, '--subscripton', 'x'], message: /unknown option.*Did you mean --subscription\?/i },
  { args: [...inAzure, 'westeurope'], message: 'too many arguments' },
  { args: ['--against', 'aws'], message: 'azure, simulator' },
  { args: ['--against', 'simulator', '--location', 'westeurope'], message: 'leave out --subscription and --location' },
  { args: ['--clean-up', 'k3x9ab', '--keep'], message: '--clean-up cannot be used with --keep' },
  { args: ['--clean-up', '--against', 'simulator'], message: 'leaves nothing to clean up' },
  { args: ['--clean-up', 'k3x9ab'], message: 'name its subscription with --subscription' },
  { args: ['--clean-up', '../x'], message: 'is no id of a run' },
  { args: ['--clean-up'], message: 'There is no run in' },
  { args: [...inAzure, '--time-limit', '0'], message: 'from 1 to 1440' },
])('refuses $args with exit code 2', async ({ args, message }) => {
  const azure = createFakeAzure();
  const command = startCommand([...args, '--folder', testDirectory('acceptance')], {
    azure,
    steps: creatingSteps(azure),
  });
  expect(await command.ended).toBe(2);
  expect(command.errors()).toMatch(message);
  expect(command.errors().trim().split('\n')).toHaveLength(1);
  expect(azure.calls.filter((words) => !['list', 'show'].includes(words[1] ?? ''))).toEqual([]);
});

test('--plan calls nothing and writes nothing', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  const command = startCommand(['--plan', '--folder', join(folder, 'runs')], { azure, steps: creatingSteps(azure) });
  expect(await command.ended).toBe(0);
  expect(azure.calls).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
  expect(command.printed()).toContain('6 steps, at most $0.00, about 6 min');
});

test('a folder copied from another machine is enough to clean up', async () => {
  const folder = testDirectory('acceptance');
  const azure = createFakeAzure();
  await startCommand([...inAzure, '--folder', folder, '--keep'], { azure, steps: creatingSteps(azure) }).ended;
  const copy = testDirectory('acceptance');
  cpSync(folder, copy, { recursive: true });
  appendFileSync(join(copy, theRun(copy), 'journal.jsonl'), '\n');
  expect(await startCommand(['--clean-up', theRun(copy), '--folder', copy], { azure }).ended).toBe(0);
  expect(azure.state).toEqual(emptyState());
});
