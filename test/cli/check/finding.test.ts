import { expect, test } from 'vitest';
import { finding, notProven, ok, problem, warning } from '../../../src/check/finding.ts';
import { checkIds, classes, type Finding, judge } from '../../../src/cli/check/finding.ts';
import { exitCodes } from '../../../src/cli/exit-codes.ts';

const well = ok('imds.document', 'x');
const cases: readonly { name: string; findings: readonly Finding[]; verdict: string; exitCode: number }[] = [
  { name: 'no finding', findings: [], verdict: 'ok', exitCode: 0 },
  { name: 'all is well', findings: [well, notProven('clock.offset', 'x')], verdict: 'ok', exitCode: 0 },
  { name: 'a warning ends as all does', findings: [well, warning('disk.space', 'x')], verdict: 'warning', exitCode: 0 },
  {
    name: 'the first problem decides, since others follow from it',
    findings: [warning('disk.space', 'x'), problem('identity.token', 'x'), problem('eventHubs.send', 'x')],
    verdict: 'problem',
    exitCode: 11,
  },
  {
    name: 'a newer outbox is no damage',
    findings: [{ ...finding('state.outbox', 'problem', 'x'), exit: 'newerOutbox' }],
    verdict: 'problem',
    exitCode: 76,
  },
];

test.for(cases)('how findings are judged together: $name', ({ findings, verdict, exitCode }) => {
  expect(judge(findings)).toMatchObject({ verdict, exitCode });
});

test('every class of failure has a finding that can be ok, and its own exit code', () => {
  const used = new Set(Object.keys(checkIds).map((what) => what.split('.')[0]));
  expect([...used].sort()).toEqual(Object.keys(classes).sort());
  const codes = Object.values(exitCodes).map(({ code }) => code);
  expect(new Set(codes).size).toBe(codes.length);
});
