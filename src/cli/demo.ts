import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AzureSimulator } from '../azure-simulator/index.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { LifecycleRecord } from '../lifecycle/record.ts';
import { stepOf } from '../lifecycle/record-id.ts';
import { Failure } from './exit-codes.ts';
import { openLog } from './open-log.ts';
import { setProcessWide } from './process-wide.ts';
import { readConfig } from './read-config.ts';
import { bridgeConfiguration } from './simulate.ts';
import { describeVerb, type Surroundings, type Verb } from './surroundings.ts';

/** `demo`: a local Azure and a bridge in one, without anything of Azure's. */
export const addDemo: Verb = (program, surroundings) => {
  const command = program
    .command('demo')
    .description('see it work in half a minute: a local Azure and a bridge; ends by itself');
  describeVerb(command).action(() => demo(surroundings));
};

const vm = 'web_0';
const played = ['freeze', 'reboot', 'canceled'] as const;
/** What arrives after so long is counted as lost. */
const patienceMs = 20_000;

async function demo({ print, stop, env }: Surroundings): Promise<void> {
  const { startAzureSimulator } = await import('../azure-simulator/index.ts');
  const { runBridge } = await import('./run-bridge.ts');
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-events-bridge-demo-'));
  const azure = await startAzureSimulator({ vms: [{ name: vm }] });
  const over = new AbortController();
  const ended = AbortSignal.any([over.signal, stop]);
  try {
    const config = configurationFor(azure, join(directory, 'state'));
    setProcessWide(config, env);
    print(introduction);
    const log = await openLog('warn');
    const bridge = runBridge({ config, clock: systemClock, log, stop: ended });
    const watching = watch(azure, print, ended);
    await play(azure, ended);
    const arrived = await allArrived(azure, ended);
    over.abort();
    await Promise.all([bridge, watching]);
    if (stop.aborted) return;
    print(compare(azure));
    if (!arrived) throw new Failure('unexpected', 'Not every step arrived once; the log above says why.');
    print('Every step arrived once at each. The README says how to point it at your own Azure.\n');
  } finally {
    over.abort();
    await azure.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const introduction = `A local Azure on this machine: the metadata service of the VM ${vm}, an event hub, a Log Analytics table.
A bridge watches the one and delivers to the others, through the real Azure SDK clients over TLS.

`;

function configurationFor(azure: AzureSimulator, stateDirectory: string): Config {
  const { sinks, ...rest } = bridgeConfiguration(azure, vm, stateDirectory);
  const { stdout: _, ...both } = sinks;
  const value = { ...rest, sinks: both };
  const read = readConfig({
    documents: [{ value, source: 'the demo', keepsSecrets: true }],
    env: {},
    defaultStateDirectory: stateDirectory,
  });
  if (!read.config) throw new Error(read.problems.join(' '));
  return read.config;
}

/** One scenario after the other, once the bridge has looked for the first time. */
async function play({ imds }: AzureSimulator, signal: AbortSignal): Promise<void> {
  const { findScenario } = await import('../azure-simulator/scenarios.ts');
  const { playScenario } = await import('../azure-simulator/player.ts');
  await condition(() => Object.values(imds.polls).some((polls) => polls > 1), signal);
  for (const name of played) {
    const scenario = findScenario(name);
    if (!scenario || signal.aborted) return;
    await playScenario(imds, scenario, { speed: scenario.demoSpeed, minimumStepSeconds: 2, resources: [vm], signal });
    await systemClock.sleep(1500, signal);
  }
}

/** Tells what Azure does and what arrives, as it happens. */
async function watch(azure: AzureSimulator, print: (text: string) => void, signal: AbortSignal): Promise<void> {
  const began = Date.now();
  const tell = (at: Date, who: string, what: string): void =>
    print(`${((at.getTime() - began) / 1000).toFixed(1).padStart(6)} s  ${who.padEnd(10)}${what}\n`);
  const seen = { issued: 0, events: 0, rows: 0 };
  while (!signal.aborted) {
    for (const step of azure.imds.issued.slice(seen.issued)) {
      tell(step.at, 'Azure', `${step.eventType} ${step.step} (incarnation ${step.incarnation})`);
    }
    for (const { body, enqueuedAt } of azure.eventHubs.events().slice(seen.events)) {
      const { eventType, phase, evidence } = JSON.parse(body.toString()) as LifecycleRecord;
      tell(enqueuedAt, 'event hub', `${eventType} ${phase}: ${evidence.join(', ')}`);
    }
    const rows = azure.logAnalytics.rows();
    for (const row of rows.slice(seen.rows)) tell(new Date(), 'table', `${row.EventType} ${row.Phase}`);
    seen.issued = azure.imds.issued.length;
    seen.events = azure.eventHubs.events().length;
    seen.rows = rows.length;
    await systemClock.sleep(50, signal);
  }
}

/** `eventId step`: what Azure issued, and what a record or a row is about. */
const issuedKeys = ({ imds }: AzureSimulator): string[] =>
  imds.issued.map(({ eventId, step }) => `${eventId} ${step === 'removed' ? 'end' : step}`);
const recordKey = (eventId: unknown, phase: unknown): string =>
  `${eventId} ${stepOf(phase as LifecycleRecord['phase'])}`;
const hubKeys = ({ eventHubs }: AzureSimulator): string[] =>
  eventHubs
    .events()
    .map(({ body }) => JSON.parse(body.toString()) as LifecycleRecord)
    .map(({ eventId, phase }) => recordKey(eventId, phase));
const tableKeys = ({ logAnalytics }: AzureSimulator): string[] =>
  logAnalytics.rows().map(({ EventId, Phase }) => recordKey(EventId, Phase));

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  JSON.stringify([...some].sort()) === JSON.stringify([...others].sort());

async function allArrived(azure: AzureSimulator, signal: AbortSignal): Promise<boolean> {
  const issued = issuedKeys(azure);
  return await condition(() => isSame(issued, hubKeys(azure)) && isSame(issued, tableKeys(azure)), signal);
}

/** Waits for it; false when it did not come in time. */
async function condition(holds: () => boolean, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  while (!holds()) {
    if (signal.aborted || Date.now() > deadline) return false;
    await systemClock.sleep(50, signal);
  }
  return true;
}

/** What Azure issued beside what the destinations hold. */
function compare(azure: AzureSimulator): string {
  const issued = issuedKeys(azure);
  const line = (name: string, held: readonly string[]): string => {
    const missing = issued.filter((key) => !held.includes(key)).length;
    const twice = held.length - new Set(held).size;
    return `  ${name.padEnd(22)}${String(held.length).padStart(3)}   missing ${missing}, twice ${twice}\n`;
  };
  const issuedLine = `  ${'Steps Azure issued'.padEnd(22)}${String(issued.length).padStart(3)}\n`;
  return `\n${issuedLine}${line('On the event hub', hubKeys(azure))}${line('In the table', tableKeys(azure))}\n`;
}
