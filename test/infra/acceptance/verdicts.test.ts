import { expect, test } from 'vitest';
import type { Finding } from '../../../infra/acceptance/step.ts';
import { type StepOutcome, verdictsOf } from '../../../infra/acceptance/verdicts.ts';

const proven: Finding = {
  assumption: 'hub-size',
  verdict: 'proven',
  evidence: 'A batch of 1,000,000 bytes was accepted.',
};
const refuted: Finding = { assumption: 'hub-size', verdict: 'refuted', evidence: 'The broker named 256 KB.' };
const other: Finding = { ...refuted, assumption: 'imds-etag' };

const judge = (
  findings: readonly Finding[],
  outcomes: Readonly<Record<string, StepOutcome>> = {},
  target: 'azure' | 'simulator' = 'azure',
) =>
  verdictsOf(
    [{ id: 'hub-size', provedBy: ['send-large', 'read-hub'] }],
    findings,
    new Map(Object.entries(outcomes)),
    target,
  );

test('an assumption is proven by a proof, whatever the outcome of its steps', () => {
  const failed = { result: 'failed', message: 'It timed out.' } as const;
  expect(judge([other, proven], { 'send-large': failed })).toEqual([
    { assumption: 'hub-size', verdict: 'proven', reason: null, isManual: false, findings: [proven] },
  ]);
});

test.for([[[proven, refuted, proven]], [[refuted, proven]]])(
  'one refutation among %j outweighs the proofs',
  ([found = []]) => {
    expect(judge(found)).toEqual([
      { assumption: 'hub-size', verdict: 'refuted', reason: null, isManual: false, findings: [refuted] },
    ]);
  },
);

test.for<readonly [outcome: StepOutcome, reason: string]>([
  [{ result: 'succeeded' }, '`send-large`: ended without seeing whether it holds; `read-hub`: not selected'],
  [{ result: 'failed', message: 'The quota is 0.' }, '`send-large`: failed: The quota is 0.; `read-hub`: not selected'],
  [
    { result: 'skipped', because: 'deploy' },
    '`send-large`: skipped, because `deploy` did not succeed; `read-hub`: not selected',
  ],
  [{ result: 'not-selected' }, '`send-large`, `read-hub`: not selected'],
  [{ result: 'interrupted' }, '`send-large`: not finished when the run was ended; `read-hub`: not selected'],
])('an assumption without findings is not reached, with the reason: %j', ([outcome, reason]) => {
  expect(judge([other], { 'send-large': outcome })).toEqual([
    {
      assumption: 'hub-size',
      verdict: 'not reached',
      reason,
      isManual: false,
      findings: [],
    },
  ]);
});

test('an assumption that no step can prove is marked, with the reason of its row', () => {
  const manual = [{ id: 'platform-maintenance', manual: 'Azure starts maintenance, not its users.\n' }];
  expect(verdictsOf(manual, [], new Map(), 'azure')).toEqual([
    {
      assumption: 'platform-maintenance',
      verdict: 'not reached',
      reason: 'Azure starts maintenance, not its users.',
      isManual: true,
      findings: [],
    },
  ]);
});

test('a run against the simulator neither proves nor refutes', () => {
  expect(judge([proven, refuted], { 'send-large': { result: 'succeeded' } }, 'simulator')).toEqual([
    {
      assumption: 'hub-size',
      verdict: 'not reached',
      reason: 'the simulator proves nothing about Azure',
      isManual: false,
      findings: [],
    },
  ]);
});
