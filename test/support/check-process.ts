import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Report } from '../../src/cli/check/report.ts';
import { type BridgeConfiguration, temporaryDirectory } from './bridge-process.ts';
import { type CommandOptions, type Ended, runCommand } from './program.ts';

/** What a run of the real `check` came to. */
export interface Checked extends Ended {
  /** Of `--json`. */
  readonly report: Report;
  /** One line of it. @throws when it has none. */
  line(what: string): Report['findings'][number];
}

/** Runs `check`, with `--json` by default. */
export async function runCheck(
  configuration: BridgeConfiguration,
  { args = ['--json'], ...options }: CommandOptions & { readonly args?: readonly string[] } = {},
): Promise<Checked> {
  using folder = temporaryDirectory('check');
  const file = join(folder.path, 'config.json');
  writeFileSync(file, JSON.stringify(configuration), { mode: 0o600 });
  const ended = await runCommand(['check', '--config', file, ...args], options);
  const report = (ended.out.startsWith('{') ? JSON.parse(ended.out) : { findings: [] }) as Report;
  return {
    ...ended,
    report,
    line(what) {
      const found = report.findings.find((one) => one.what === what);
      if (!found) throw new Error(`no line about ${what}: ${ended.out}${ended.err}`);
      return found;
    },
  };
}
