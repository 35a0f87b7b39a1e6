import { systemClock } from '../../clock.ts';
import { loadConfig } from '../../config/load-config.ts';
import { environmentOf } from '../../config/options.ts';
import { operatingSystemOf } from '../../operating-system.ts';
import { setProcessWide, UnusableSetting } from '../../process/process-wide.ts';
import { formatFor } from '../../process/text-format.ts';
import { version } from '../../process/version.ts';
import type { CommandContext } from '../command-context.ts';
import { prove } from './checks.ts';
import { configurationFindings, problemFindings, seeFile } from './configuration.ts';
import { createCheckContext } from './context.ts';
import { type Class, type Finding, type Judgement, judge } from './finding.ts';
import { classText, reportOf, verdictText, waitingText } from './report.ts';

export interface CheckOptions {
  readonly config?: string;
  readonly json?: true;
  readonly offline?: true;
  readonly write?: true;
}

/** Runs every check and prints the findings. @returns the result; null when it was interrupted. */
export async function runChecks(
  options: CheckOptions,
  { env, stop, print }: CommandContext,
): Promise<Judgement | null> {
  const clock = systemClock;
  const platform = process.platform;
  const system = operatingSystemOf(platform);
  const offline = options.offline === true;
  const format = formatFor(process.stdout, env);
  const all: Finding[] = [];
  const add = (name: Class, findings: readonly Finding[]): void => {
    all.push(...findings);
    if (!options.json) print(classText(name, findings, format));
  };

  const configured = await configure(options, env, platform);
  add('configuration', configured.findings);
  if (configured.config) {
    const context = createCheckContext({
      config: configured.config,
      clock,
      system,
      write: options.write === true,
      offline,
      signal: stop,
      report: (sentence) => {
        if (!options.json) print(waitingText(sentence, format));
      },
    });
    try {
      for await (const { class: name, findings } of prove(context, { offline })) {
        if (stop.aborted) break;
        add(name, findings);
      }
    } finally {
      await context.close();
    }
  }

  if (stop.aborted) return null;
  if (options.json) print(`${JSON.stringify(reportOf(all, { bridgeVersion: version, at: clock.now(), offline }))}\n`);
  else print(`\n${verdictText(all, { offline }, format)}`);
  return judge(all);
}

/** Reads the configuration and sets what is process-wide; everything wrong with either is a finding. */
async function configure(options: CheckOptions, env: NodeJS.ProcessEnv, platform: NodeJS.Platform) {
  const loaded = loadConfig({ file: options.config, env, platform });
  if (!loaded.config) return { config: null, findings: problemFindings(loaded.problems) };
  try {
    // Before anything is changed in there.
    const given = { ...environmentOf(env, platform) };
    const warnings = setProcessWide(loaded.config, env, loaded.sourceOf);
    const file = loaded.file === null ? null : await seeFile(loaded.file, platform);
    const on = { file, env: given, warnings, system: operatingSystemOf(platform) };
    return { config: loaded.config, findings: configurationFindings(loaded, on) };
  } catch (error) {
    if (error instanceof UnusableSetting) return { config: null, findings: problemFindings([error.message]) };
    throw error;
  }
}
