import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createProgram } from '../../../src/azure-simulator/cli/program.ts';

const folder = mkdtempSync(join(tmpdir(), 'simulate-options-'));
const broken = join(folder, 'broken.jsonl');
writeFileSync(broken, '{}\n');
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a command line that should be refused; answers with the sentence. */
async function refusal(args: readonly string[]): Promise<unknown> {
  let out = '';
  const program = createProgram({
    env: {},
    stop: AbortSignal.abort(),
    print: (text) => {
      out += text;
    },
  });
  const error = await program.parseAsync(['simulate', ...args], { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(out).toBe('');
  return error instanceof Error ? error.message : error;
}

const refused: readonly { args: readonly string[]; message: string }[] = [
  { args: ['--list', '--vm', 'a'], message: "option '--list' cannot be used with option '--vm <name>'" },
  { args: ['--list', '--write-config', 'x'], message: "option '--list' cannot be used with option '--write-config" },
  { args: ['--record', 'x'], message: 'simulate does not record: use scheduled-events-bridge record x.' },
  { args: ['--replay', 'x', '--vms', '2'], message: "option '--replay <file>' cannot be used with option '--vms" },
  { args: ['--vm', 'a', '--vms', '2'], message: "option '--vm <name>' cannot be used with option '--vms <count>'" },
  { args: ['freeze', '--list'], message: 'A scenario cannot be used with --list: leave out "freeze" or --list.' },
  { args: ['freeze', '--replay', 'x'], message: 'A scenario cannot be used with --replay' },
  { args: ['--repeat'], message: '--repeat needs a scenario' },
  { args: ['--speed', ''], message: 'expected a number from 0.1 to 100000.' },
  { args: ['--vms', '1.5'], message: 'expected a whole number from 1 to 10000.' },
  { args: ['--port', '65531'], message: 'expected a whole number from 0 to 65530.' },
  { args: ['--host', '0.0.0.0'], message: 'expected the one name or address by which clients reach this machine' },
  { args: ['--host', 'vm:80'], message: 'expected a host name or an IP address, without a port.' },
  { args: ['--write-config', broken], message: 'name another directory.' },
  { args: ['frezee'], message: 'There is no scenario "frezee"; did you mean freeze? simulate --list shows all.' },
  { args: ['xyzxyz'], message: 'There is no scenario "xyzxyz": simulate --list shows all.' },
  { args: ['--replay', join(folder, 'none')], message: 'scheduled-events-bridge record makes one.' },
  { args: ['--replay', folder], message: 'cannot be read (EISDIR).' },
  { args: ['--replay', broken], message: 'broken.jsonl, line 1 is not the header of a recording; expected a file' },
  { args: ['--freeze', '0'], message: 'expected a whole number from 1 to' },
  { args: ['--freeze', String(process.pid)], message: 'is this process itself: give that of a bridge.' },
];

test.for(refused)('simulate $args is refused in one sentence', async ({ args, message }) => {
  expect(await refusal(args)).toContain(message);
});
