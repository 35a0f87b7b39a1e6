/** The acceptance run as a process of its own, for tests: its steps wait for moments instead of minutes, and the packages are empty. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { readAssumptions } from '../../../../infra/acceptance/assumptions.ts';
import { createAz, findAz } from '../../../../infra/acceptance/az-process.ts';
import { azureSteps } from '../../../../infra/acceptance/azure/steps.ts';
import type { AzureTools } from '../../../../infra/acceptance/azure/tools.ts';
import { createAzureTarget } from '../../../../infra/acceptance/azure-target.ts';
import { dataSteps } from '../../../../infra/acceptance/data/steps.ts';
import type { Scenario } from '../../../../infra/acceptance/events/scenario.ts';
import { scenarios } from '../../../../infra/acceptance/events/scenarios.ts';
import { eventSteps } from '../../../../infra/acceptance/events/steps.ts';
import { main } from '../../../../infra/acceptance/main.ts';
import type { Step } from '../../../../infra/acceptance/step.ts';
import { paceOfSimulator } from '../../../../infra/acceptance/target.ts';
import { createTargets } from '../../../../infra/acceptance/targets.ts';
import type { RedirectedPort } from '../az-stand-in/simulated-services.ts';

const shortMs = 20;

/** The limit of `--time-limit` is reached when SIGUSR2 comes, so that a busy machine does not reach it earlier. */
const setTimer = globalThis.setTimeout;
const limit = process.argv.indexOf('--time-limit') + 1;
if (limit > 0) {
  const limitMs = Number(process.argv[limit]) * 60_000;
  globalThis.setTimeout = ((callback: () => void, ms = 0) => {
    if (ms !== limitMs) return setTimer(callback, ms);
    process.once('SIGUSR2', callback);
    return setTimer(() => {}, ms);
  }) as typeof setTimeout;
}

const only = process.argv.indexOf('--only') + 1;

/** The step `compile` calls `az` for each of 40 files: runs go without it, but where `--only` names it. */
const withoutCompilation = (steps: readonly Step[]): readonly Step[] =>
  only > 0 && process.argv[only]?.includes('compile')
    ? steps
    : steps.map((step) => ({ ...step, needs: step.needs.filter((id) => id !== 'compile') }));

const tools: AzureTools = {
  sleep: (_, signal) => sleep(shortMs, undefined, { signal }),
  async buildPackages(folder, platforms) {
    mkdirSync(folder, { recursive: true });
    const names = [
      ...['scheduled-events-bridge-0.1.0-linux-x64.tar.gz', 'scheduled-events-bridge_0.1.0_amd64.deb'],
      ...(platforms.includes('win-x64') ? ['scheduled-events-bridge-0.1.0-win-x64.zip'] : []),
    ];
    for (const name of names) writeFileSync(join(folder, name), '');
    return 'built\n';
  },
};

/** The notice that the simulated VMs are given is shorter than the documented one; see `noticeSeconds` of the stand-in. */
const withShortNotice = (scenario: Scenario): Scenario => ({
  ...scenario,
  noticeSeconds: scenario.approvedBy === null && scenario.noticeSeconds !== null ? 5 : scenario.noticeSeconds,
});

/** The step that is carried out: faults are planted by it. */
const current = new AsyncLocalStorage<string>();
/** Steps whose connections to services of Azure are refused. */
const unreachableIn = (process.env.AZ_STAND_IN_UNREACHABLE_IN ?? '').split(',');

/** Connections to services of Azure lead to those of the simulator. */
const redirected: readonly RedirectedPort[] = JSON.parse(process.env.AZ_STAND_IN_SERVICES ?? '[]');
const connect = tls.connect;
tls.connect = ((...given: readonly unknown[]) => {
  const isPlain = typeof given[0] === 'object';
  const [port, host] = isPlain ? [] : given;
  const options = { port, host, ...(isPlain ? (given[0] as object) : (given[2] as object)) } as tls.ConnectionOptions;
  const to = redirected.find(([end, asked]) => options.host?.endsWith(end) && Number(options.port) === asked);
  if (to === undefined) return Reflect.apply(connect, tls, given);
  const isRefused = unreachableIn.includes(current.getStore() ?? '');
  const here = { host: '127.0.0.1', port: isRefused ? 1 : to[2], checkServerIdentity: () => undefined };
  return Reflect.apply(connect, tls, [{ ...options, ...here }, ...given.slice(isPlain ? 1 : 3)]);
}) as typeof tls.connect;

/** With this variable, steps fail soon: what they wait for does not come. */
const isHasty = process.env.AZ_STAND_IN_HASTY === '1';
/** A script that was refused because its VM restarts is tried again sooner than a VM boots. */
const restartMs = isHasty ? shortMs : 300;
const machineTools = {
  // A machine that is busy needs longer than the simulator alone.
  pace: { ...paceOfSimulator, mostMinutes: isHasty ? 0.05 : 3 },
  sleep: (_: number, signal: AbortSignal) => sleep(restartMs, undefined, { signal }),
} as const;

const named = (step: Step): Step => ({
  ...step,
  run: (context) => current.run(step.id, () => step.run(context)),
});
const env = Object.defineProperty({ ...process.env }, 'AZ_STAND_IN_STEP', {
  get: () => current.getStore() ?? '',
  enumerable: true,
});

process.exitCode = await main(process.argv.slice(2), {
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  stepsOf: (options) =>
    withoutCompilation([
      ...azureSteps(options, tools),
      ...eventSteps(options, scenarios.map(withShortNotice)),
      ...dataSteps(options),
    ]).map(named),
  readAssumptions,
  createTargets: { ...createTargets, azure: (context) => createAzureTarget(context, machineTools) },
  openAz: (options) => {
    const program = findAz(process.env);
    return program && createAz({ ...options, program, env, retrySeconds: [0.02, 0.02, 0.02] });
  },
  listen: (signal, listener) => void process.on(signal, listener),
  now: () => performance.now(),
  exit: (code) => process.exit(code),
  wait: () => sleep(shortMs),
});
