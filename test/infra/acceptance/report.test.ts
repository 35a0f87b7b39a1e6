import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runNamed } from '../../../infra/acceptance/begin.ts';
import type { Beginning, RunEvent } from '../../../infra/acceptance/journal.ts';
import { type Report, reportOf } from '../../../infra/acceptance/report.ts';
import { reportText } from '../../../infra/acceptance/report-text.ts';
import { writeReport } from '../../../infra/acceptance/write-report.ts';
import { testDirectory } from '../../support/test-directory.ts';
import { subscriptionId } from './fake-azure.ts';
import { memoryJournal } from './memory-journal.ts';

const assumption = (id: string, provedBy: readonly string[]) => ({
  id,
  on: 'azure' as const,
  claim: `The claim of ${id}`,
  where: [],
  verify: '',
  otherwise: `What to do without ${id}`,
  source: [],
  breaks: `What breaks without ${id}`,
  provedBy,
});

const assumptions = [
  { ...assumption('hub-order', ['read-hub']), unseen: 'what no test has seen' },
  assumption('imds-preempt', ['evict']),
  assumption('logs-types', ['read-tables']),
  { ...assumption('imds-hardware-failure', []), manual: 'a failure of a host cannot be requested' },
];

const begun: Beginning = {
  event: 'run-begun',
  run: runNamed('k3x9ab', { subscription: subscriptionId, location: 'westeurope', folder: '/runs' }),
  against: 'azure',
  windows: false,
  keep: false,
  process: { host: 'laptop', pid: 4711 },
  versions: { bridge: '0.1.0', 'Azure CLI': '2.80.0', Bicep: '0.38.5' },
  steps: [
    { id: 'platform', title: 'deploy the platform', phase: 'deploy', usd: 0.8 },
    { id: 'evict', title: 'evict a Spot VM', phase: 'events', usd: 0.65 },
    { id: 'read-hub', title: 'read the hub', phase: 'read', usd: 0 },
    { id: 'read-tables', title: 'read the tables', phase: 'read', usd: 2 },
  ],
};

/** One event a second, from the beginning of 2026 on. */
const reportAfter = (...events: readonly RunEvent[]): Report =>
  reportOf(memoryJournal([begun, ...events]).entries, assumptions);

const succeeded = (step: string): RunEvent[] => [
  { event: 'step-begun', step },
  { event: 'step-ended', step, outcome: { result: 'succeeded' } },
];

const complete: readonly RunEvent[] = [
  ...succeeded('platform'),
  { event: 'step-begun', step: 'evict' },
  {
    event: 'finding',
    step: 'evict',
    finding: {
      assumption: 'imds-preempt',
      verdict: 'refuted',
      evidence: 'NotBefore was 5 s away',
      file: 'evict/spot.jsonl',
    },
  },
  {
    event: 'difference',
    difference: { situation: 'evict', what: 'a second Preempt | with another id', file: 'evict/diff.txt' },
  },
  ...[31, 29, 40, 35].map(
    (seconds): RunEvent => ({ event: 'measured', what: 'notice given', seconds, detail: 'spot' }),
  ),
  { event: 'measured', what: 'delivery to the hub', seconds: 1.23456, detail: 'vm' },
  { event: 'step-ended', step: 'evict', outcome: { result: 'succeeded' } },
  { event: 'step-begun', step: 'read-hub' },
  {
    event: 'finding',
    step: 'read-hub',
    finding: {
      assumption: 'hub-order',
      verdict: 'proven',
      evidence: `12 records in order, in ${subscriptionId} of the subscription Test`,
    },
  },
  {
    event: 'step-ended',
    step: 'read-hub',
    outcome: { result: 'failed', message: 'ETIMEDOUT of 20.1.2.3 for ann@contoso.com' },
  },
  { event: 'step-ended', step: 'read-tables', outcome: { result: 'skipped', because: 'read-hub' } },
  { event: 'run-ended', because: 'all steps' },
  { event: 'clean-up-begun' },
  {
    event: 'clean-up-ended',
    left: [{ what: 'the group rg-x', why: 'ScopeLocked', command: `az group delete --subscription ${subscriptionId}` }],
  },
];

test('a report has the verdict of each assumption, the outcome of each step and what is left', () => {
  const report = reportAfter(...complete);
  expect(report.assumptions.map(({ assumption, verdict, reason }) => [assumption, verdict, reason])).toEqual([
    ['hub-order', 'proven', null],
    ['imds-preempt', 'refuted', null],
    ['logs-types', 'not reached', '`read-tables`: skipped, because `read-hub` did not succeed'],
    ['imds-hardware-failure', 'not reached', 'a failure of a host cannot be requested'],
  ]);
  expect(report.steps.map(({ id, outcome, seconds }) => [id, outcome?.result, seconds])).toEqual([
    ['platform', 'succeeded', 1],
    ['evict', 'succeeded', 8],
    ['read-hub', 'failed', 2],
    ['read-tables', 'skipped', null],
  ]);
  expect(report.cleanUp).toMatchObject({ state: 'done', left: [{ what: 'the group rg-x' }] });
});

test('counts what can have been spent: only steps that began, and nothing on the simulator', () => {
  expect(reportAfter(...complete).run.maxCostUsd).toBeCloseTo(1.45);
  const onSimulator = memoryJournal([{ ...begun, against: 'simulator' }, ...complete]).entries;
  expect(reportOf(onSimulator, assumptions).run.maxCostUsd).toBe(0);
});

test('durations have count, least, median and most, in seconds', () => {
  expect(reportAfter(...complete).durations).toMatchObject([
    { what: 'notice given', count: 4, minSeconds: 29, medianSeconds: 33, maxSeconds: 40 },
    { what: 'delivery to the hub', count: 1, minSeconds: 1.23456, medianSeconds: 1.23456, maxSeconds: 1.23456 },
  ]);
});

test.for([
  { name: 'a crash before any step', events: [], state: 'not ended', cleanUp: 'not begun' },
  { name: 'a crash during a step', events: complete.slice(0, 4), state: 'not ended', cleanUp: 'not begun' },
  {
    name: 'a crash during the clean-up',
    events: complete.slice(0, -1),
    state: 'finished',
    cleanUp: 'not ended',
  },
] as const)('a report is made after $name', ({ events, state, cleanUp }) => {
  const report = reportAfter(...events);
  expect([report.run.state, report.cleanUp.state]).toEqual([state, cleanUp]);
  expect(reportText(report)).toContain('npm run acceptance -- --clean-up k3x9ab');
});

test('a crash during a step leaves what it found', () => {
  const report = reportAfter(...complete.slice(0, 5));
  expect(report.assumptions[1]).toMatchObject({ verdict: 'refuted' });
  expect(report.steps[1]).toMatchObject({ outcome: null, seconds: null });
});

test('a journal without a beginning has no report', () => {
  expect(() => reportOf([], assumptions)).toThrow('no beginning');
});

/** `UPDATE=1 npm run test:unit -- test/infra/acceptance/report.test.ts` writes it again. */
test('acceptance.md is as in the sample, and has nothing of the subscription', () => {
  const sample = join(import.meta.dirname, 'sample-report.txt');
  const folder = testDirectory('report');
  mkdirSync(folder, { recursive: true });
  const login: RunEvent = { event: 'found', step: 'login', value: { subscriptionName: 'Test' } };
  writeReport(folder, memoryJournal([begun, login, ...complete]).entries, assumptions);
  const text = readFileSync(join(folder, 'acceptance.md'), 'utf8');
  if (process.env.UPDATE) writeFileSync(sample, text);
  expect(text).toBe(readFileSync(sample, 'utf8'));
  const both = text + readFileSync(join(folder, 'acceptance.json'), 'utf8');
  // The subscription has the name of a word in the claims, the titles and the register.
  expect(text).toContain('what no test has seen');
  for (const secret of [subscriptionId, '20.1.2.3', 'ann@contoso.com', 'contoso']) expect(both).not.toContain(secret);
  expect(JSON.parse(readFileSync(join(folder, 'acceptance.json'), 'utf8')).assumptions).toHaveLength(4);
});
