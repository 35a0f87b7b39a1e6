import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { notProven, ok, problem, warning } from '../../../src/check/finding.ts';
import { classText, reportOf, verdictText, waitingText } from '../../../src/cli/check/report.ts';

const findings = [
  ok('disk.space', 'There is room.'),
  warning('state.service', 'No service runs.'),
  problem('eventHubs.send', 'No role.', 'az role assignment create'),
  notProven('clock.offset', 'No time.'),
];

test('a class is a heading and a line for each finding, with the command below that fixes it', () => {
  expect(classText('eventHubs', [ok('eventHubs.tls', 'Trusted.'), findings[2] ?? ok('eventHubs.tcp', 'x')])).toBe(
    `eventHubs
  ok         tls         Trusted.
  PROBLEM    send        No role.
    $ az role assignment create
`,
  );
  expect(classText('stdout', [])).toBe('');
});

const long = [
  problem(
    'eventHubs.send',
    'The identity of this VM may not send to the event hub vm-lifecycle in contoso.',
    'az role',
  ),
  notProven('eventHubs.probe', 'Not tried.', `az ${'x'.repeat(60)}`),
];

test('on a terminal of 80 columns lines break between words, and a command is not broken', () => {
  expect(classText('eventHubs', long, { width: 80, colour: false })).toBe(
    `eventHubs
  PROBLEM    send        The identity of this VM may not send to the event hub
                         vm-lifecycle in contoso.
    $ az role
  not proven probe       Not tried.
    $ az ${'x'.repeat(60)}
`,
  );
  const verdict = verdictText(findings, { offline: true }, { width: 40, colour: false });
  expect(verdict.trimEnd().split('\n').length).toBeGreaterThan(2);
  expect(Math.max(...verdict.split('\n').map((line) => line.length))).toBeLessThanOrEqual(40);
  expect(verdict.replaceAll('\n', ' ').trim()).toBe(verdictText(findings, { offline: true }).trim());
  expect(waitingText('a b', { width: 14, colour: false })).toBe(`  …          a\n${' '.repeat(13)}b\n`);
});

test('colour changes nothing but the colour', () => {
  const coloured = classText('eventHubs', long, { width: 80, colour: true });
  expect(coloured).toContain('\u001b[1m\u001b[31mPROBLEM');
  expect(stripVTControlCharacters(coloured)).toBe(classText('eventHubs', long, { width: 80, colour: false }));
});

test.for([
  { of: findings, message: '1 problem: eventHubs.send (exit 12); 1 warning, 1 ok, 1 not proven.\n' },
  {
    of: [...findings, problem('http.reach', 'No.')],
    message: '2 problems: eventHubs.send, http.reach (exit 12); 1 warning, 1 ok, 1 not proven.\n',
  },
  { of: findings.slice(0, 2), message: 'No problem found: 1 warning, 1 ok.\n' },
  {
    of: [...findings.slice(0, 1), ...findings.slice(3)],
    message: 'No problem found: 1 ok, 1 not proven.\n',
  },
])('the verdict of a check reads $message', ({ of, message }) => {
  expect(verdictText(of, { offline: false })).toBe(message);
  expect(verdictText(of, { offline: true })).toContain('(--offline)');
});

test('the JSON of a check has the form that is promised', () => {
  const at = new Date('2026-03-14T09:26:53.123Z');
  expect(reportOf(findings, { bridgeVersion: '0.1.0', at, offline: false })).toEqual({
    reportVersion: 2,
    bridgeVersion: '0.1.0',
    at: '2026-03-14T09:26:53.123Z',
    offline: false,
    verdict: 'problem',
    exitCode: 12,
    counts: { ok: 1, warning: 1, problem: 1, 'not-proven': 1 },
    findings: [
      { what: 'disk.space', verdict: 'ok', message: 'There is room.', remedy: null },
      { what: 'state.service', verdict: 'warning', message: 'No service runs.', remedy: null },
      { what: 'eventHubs.send', verdict: 'problem', message: 'No role.', remedy: 'az role assignment create' },
      { what: 'clock.offset', verdict: 'not-proven', message: 'No time.', remedy: null },
    ],
  });
});
