import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../src/cli/check/report.ts';
import { type BridgeConfiguration, temporaryDirectory } from './bridge-process.ts';
import { cleanEnvironment, mainFile } from './program.ts';

/** What a run of the real `check` came to. */
export interface Checked {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** Of `--json`. */
  readonly report: Report;
  /** One line of it. @throws where there is none. */
  line(what: string): Report['findings'][number];
}

/** Runs `check`, with `--json` unless told otherwise. */
export async function runCheck(
  configuration: BridgeConfiguration,
  { args = ['--json'], env = {} }: { readonly args?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<Checked> {
  using folder = temporaryDirectory('check');
  const file = join(folder.path, 'config.json');
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
  const child = spawn(process.execPath, [mainFile, 'check', '--config', file, ...args], {
    env: { ...cleanEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    said.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    said.err += chunk;
  });
  await new Promise((resolve) => child.once('close', resolve));
  const report = (said.out.startsWith('{') ? JSON.parse(said.out) : { findings: [] }) as Report;
  return {
    code: child.exitCode,
    ...said,
    report,
    line(what) {
      const found = report.findings.find((one) => one.what === what);
      if (!found) throw new Error(`no line about ${what}: ${said.out}${said.err}`);
      return found;
    },
  };
}
