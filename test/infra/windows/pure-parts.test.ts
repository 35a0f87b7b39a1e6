import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { stateIn } from '../../../src/service/unit-state.ts';
import { temporaryDirectory } from '../../support/bridge-process.ts';
import { root } from '../../support/source-tree.ts';

const compiler = spawnSync('cc', ['--version']).status === 0 ? 'cc' : null;
const because = compiler === null ? ' (skipped: no C compiler, cc)' : '';

/** Compiles the pure parts for this system, and puts the questions to them. @returns an answer for each. */
function ask(questions: readonly string[]): readonly string[] {
  using folder = temporaryDirectory('pure-parts');
  const program = join(folder.path, 'program');
  const sources = join(root, 'infra/windows/service-host');
  const files = ['policy.c', 'lines.c', 'state.c'].map((name) => join(sources, name));
  const flags = [
    '-std=c11',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-fsanitize=undefined',
    '-fno-sanitize-recover',
    '-I',
    sources,
  ];
  const built = spawnSync('cc', [...flags, ...files, join(import.meta.dirname, 'pure-parts.c'), '-o', program], {
    encoding: 'utf8',
  });
  expect(built.stderr).toBe('');
  const { status, stdout, stderr } = spawnSync(program, { input: `${questions.join('\n')}\n`, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.split('\n').slice(0, -1);
}

/** One line as the bridge logs it. */
function logLine(level: 'info' | 'error', message: string): string {
  const lines: string[] = [];
  createLog({ level: 'info', destination: { write: (line) => lines.push(line) } })[level]({ code: 1 }, message);
  return lines.join('').trimEnd();
}

/** 16,384 bytes, the longest line. */
const long = 'x'.repeat(16_384);

/** What the README of the service host says, case by case. */
const cases: readonly (readonly [name: string, questions: readonly string[], answers: readonly string[]])[] = [
  [
    'the pause before a restart doubles from 5 s up to 60 s',
    ['pause 5 60 1', 'pause 5 60 2', 'pause 5 60 3', 'pause 5 60 4', 'pause 5 60 5', 'pause 5 60 4294967295'],
    ['5', '10', '20', '40', '60', '60'],
  ],
  ['a first pause above the longest one is cut', ['pause 90 60 1'], ['60']],
  [
    'ends are counted until the bridge has run for ten minutes',
    ['ends 600 0 1000', 'ends 600 4 599999', 'ends 600 4 600000', 'ends 600 4294967295 0'],
    ['1', '5', '1', '4294967295'],
  ],
  [
    'only Node.js too old, a newer outbox and a wrong configuration are final',
    ['final 69', 'final 76', 'final 78', 'final 0', 'final 1', 'final 75', 'final 3221225477'],
    ['1', '1', '1', '0', '0', '0', '0'],
  ],
  [
    'a pause of the machine counts for the watchdog as two seconds',
    ['watched 0', 'watched 1000', 'watched 2000', 'watched 3600000'],
    ['0', '1000', '2000', '2000'],
  ],
  [
    'notifications are the words of sd_notify, and unknown ones are ignored',
    [
      'READY=1',
      'WATCHDOG=1',
      'STOPPING=1',
      'STATUS=10:00:00 UTC: a=b',
      'STATUS=',
      'READY=0',
      'READY=10',
      'FDSTORE=1',
    ].map((word) => `notification ${word}`),
    ['ready ', 'watchdog ', 'stopping ', 'status 10:00:00 UTC: a=b', 'status ', 'other ', 'other ', 'other '],
  ],
  [
    'an error of the log is one by its level, not by words in its text',
    [
      logLine('error', 'A poll failed.'),
      logLine('info', 'It says "level":"error".'),
      'Error: "level":"error"',
      ' ',
    ].map((line) => `error ${line}`),
    ['1', '0', '0', '0'],
  ],
  [
    'a text of an entry has nothing that the event viewer would replace, and is cut where there is no more room',
    ['fe80::1%12', '100 % %s %', '1234567890abcdefgh', '123456789012%1'].map((text) => `event ${text}`),
    ['fe80::1% 12', '100 % %s %', '1234567890abcd', '123456789012% '],
  ],
  [
    'ten entries in ten minutes, and the first one after them says how many were left out',
    [...Array.from({ length: 12 }, (_, at) => `rate ${5000 + at}`), 'rate 604999', 'rate 605000', 'rate 605001'],
    [...Array.from({ length: 10 }, () => '1 0'), '0 0', '0 0', '0 0', '1 3', '1 0'],
  ],
  [
    'lines end with LF or CR LF, empty ones are left out, and the last one needs no end',
    ['lines a|bc<|||d', 'lines |', 'lines a<b|'],
    ['[a|1][bc|2]end[d|1]', 'end', '[a\rb|3]end'],
  ],
  [
    'a line that is too long is passed on in parts',
    ['lines x|', 'lines xa|'],
    [`[${long}|16384]end`, `[${long}|16384][a|1]end`],
  ],
];

describe.skipIf(compiler === null)(`the pure parts of the service host${because}`, () => {
  const statuses = ['Polling; 1 event.', `a${'ü'.repeat(600)}`, 'a\tb\u0007c'];
  let answers: readonly string[] | null = null;
  /** All questions at once: the program is compiled and started once. */
  const answered = (): readonly string[] => {
    answers ??= ask([...cases.flatMap(([, questions]) => questions), ...statuses.map((status) => `state ${status}`)]);
    return answers;
  };

  test.for(cases.map((row, at) => [...row, at] as const))('service host: %s', ([_, questions, expected, at]) => {
    const before = cases.slice(0, at).reduce((sum, [, earlier]) => sum + earlier.length, 0);
    expect(answered().slice(before, before + questions.length)).toEqual(expected);
  });

  test('the state is what the parser of `systemctl show` reads, its status in one line and never cut within a character', () => {
    const states = answered()
      .slice(-statuses.length)
      .map((line) => stateIn(line.replaceAll(';', '\n').replace('Polling\n 1', 'Polling; 1')));
    expect(states[0]).toEqual({
      active: 'active',
      sub: 'running',
      file: '',
      invocation: '0123456789abcdef0123456789abcdef',
      pid: 4711,
      restarts: 3,
      message: 'Polling; 1 event.',
      exitStatus: 1067,
      result: 'success',
      isStale: false,
      since: 'Sun 2026-11-22 17:46:35 UTC',
    });
    expect(states[1]?.message).toBe(`a${'ü'.repeat(511)}`);
    expect(states[2]?.message).toBe('a b c');
    expect(answered().at(-1)).toContain(';HostPID=815;');
  });
});
