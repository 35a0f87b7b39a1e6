import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { test } from '../support/azure-test.ts';
import { configurationFor } from '../support/bridge-process.ts';
import { hubRecords } from '../support/delivered.ts';
import { cleanEnvironment, mainFile } from '../support/program.ts';
import { valid } from '../support/published-schema.ts';
import { until } from '../support/until.ts';

/** A program that is followed while it runs, and ends with its test. */
function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(program, args, { env: { ...cleanEnvironment(), ...env } });
  const output = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (output.out += chunk));
  child.stderr.on('data', (chunk) => (output.err += chunk));
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output, ended };
}

const word = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

test('an operator follows an event in JSON, in a terminal that counts down, and up to the first lines', async ({
  azure,
  directory,
  start: startBridge,
  expect,
}) => {
  const file = join(directory, 'bridge.json');
  writeFileSync(file, JSON.stringify(configurationFor(azure, 'web_0', directory)), { mode: 0o600 });
  const tail = [process.execPath, mainFile, 'tail', '--config', file];
  const [node = '', ...args] = tail;
  startBridge();
  await until(() => (azure.imds.polls.web_0 ?? 0) > 1, { what: 'polls' });
  const notBefore = new Date(Date.now() + 15 * 60_000);
  const eventId = azure.imds.schedule({ eventType: 'Reboot', resources: ['web_0'], notBefore });
  await until(() => hubRecords(azure).length === 1, { what: 'the announcement on the hub' });

  const json = start(node, [...args, '--from', 'start', '--json']);
  const head = start('bash', ['--norc', '-c', `${tail.map(word).join(' ')} | head -1; echo "ended \${PIPESTATUS[*]}"`]);
  const inTerminal = `stty cols 100 rows 30; exec ${tail.map(word).join(' ')}`;
  const terminal = start('script', ['-qefc', inTerminal, '/dev/null'], { TERM: 'xterm', SHELL: '/bin/sh' });
  const counted = (): Set<string> => new Set(terminal.output.out.match(/in 14 min \d\d? s/g));
  await until(() => json.output.out !== '' && head.output.out !== '' && counted().size > 2, {
    what: `the announcement three times: ${json.output.err}${head.output.err}${terminal.output.out}`,
  });

  azure.imds.start(eventId);
  await until(() => hubRecords(azure).length === 2, { what: 'the start on the hub' });
  azure.imds.remove(eventId);
  await until(() => json.output.out.trimEnd().split('\n').length === 3, { what: 'three transitions' });
  // Its reader was gone after the first line, which the second one showed.
  expect(await head.ended).toBe(0);
  expect(head.output).toEqual({
    out: expect.stringMatching(
      new RegExp(
        `^[0-9T:-]{19}Z {2}Scheduled {2}Reboot {5}web_0 {17}in 1[45] min .*, not before .*Z {2}${eventId}\nended 0 0\n$`,
      ),
    ),
    err: '',
  });

  json.child.kill('SIGINT');
  expect(await json.ended).toBe(0);
  const lines = json.output.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ phase, isOpen, affected }) => [phase, isOpen, affected])).toEqual([
    ['Scheduled', true, ['web_0']],
    ['Started', true, ['web_0']],
    [expect.stringMatching(/^(Completed|Ended)$/), false, []],
  ]);
  expect(valid(lines.map(({ record }) => record))).toEqual(hubRecords(azure));
  expect(json.output.err).toBe('');

  await until(() => terminal.output.out.includes('No open event'), { what: 'the end in the terminal' });
  terminal.child.stdin.write('\x03');
  expect(await terminal.ended).toBe(0);
  const { out } = terminal.output;
  expect(out).toContain('\x1b[35mStarted  \x1b[0m');
  // The footer is gone and the cursor is back.
  expect(out.trimEnd().endsWith('\x1b[J\x1b[?25h')).toBe(true);
});

test('a tail that is refused says why and how to fix it, and ends with 12', async ({ azure, directory, expect }) => {
  const file = join(directory, 'bridge.json');
  writeFileSync(file, JSON.stringify(configurationFor(azure, 'web_0', directory)), { mode: 0o600 });
  const { output, ended } = start(process.execPath, [mainFile, 'tail', '--config', file, '--consumer-group', 'none']);
  expect({ code: await ended, ...output }).toEqual({
    code: 12,
    out: '',
    err: expect.stringMatching(
      /^The event hub vm-lifecycle has no consumer group none: create it, or name another with --consumer-group\.\n\n {2}az rest --method put .*\n\n$/,
    ),
  });
});
