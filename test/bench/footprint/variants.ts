import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundle } from '../../../infra/package/bundle.ts';
import { bridgeConfiguration } from '../../../src/azure-simulator/cli/addresses.ts';
import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import { root } from '../../support/source-tree.ts';
import { until } from '../../support/until.ts';
import { asInstalled } from '../as-installed.ts';
import { naiveEnvironment } from '../naive/environment.ts';

export interface Variant {
  readonly name: string;
  start(round: number): Started;
}

export interface Started {
  readonly child: ChildProcess;
  /** What it asked of the metadata service so far. */
  readonly polls: () => number;
  /** Resolves when it does what is measured. */
  readonly ready: Promise<unknown>;
}

interface Place {
  readonly azure: AzureSimulator;
  readonly directory: string;
}

/** One program that polls, and sends what it sees. */
interface Program {
  readonly name: string;
  readonly command: (home: string, vm: string) => { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv };
  /** Nothing is scheduled, which is nearly always: no connection to a sink is held. */
  readonly isQuiet?: boolean;
}

/** Everything that is measured, beginning with the product as its unit starts it. */
export async function variants(place: Place): Promise<readonly Variant[]> {
  const { azure, directory } = place;
  const file = (name: string): string => join(directory, `${name}.cjs`);
  await bundle(file('bridge'));
  const nodeHttp = join(import.meta.dirname, 'node-http-client.ts');
  await bundle(file('with-node-http'), { alias: { 'undici/lib/dispatcher/client.js': nodeHttp } });
  const one = join(import.meta.dirname, 'one-process.ts');
  await bundle(file('one-process'), { entryPoints: [one] });
  const naive = join(import.meta.dirname, '../naive/naive.ts');
  await build({ entryPoints: [naive], bundle: true, platform: 'node', outfile: file('naive'), logLevel: 'error' });
  const naiveEnv = (vm: string) => naiveEnvironment(vm, bridgeConfiguration(azure, vm, ''));
  const bridge =
    (program: string, isInstalled = true) =>
    (home: string) => {
      const { flags, env } = isInstalled
        ? asInstalled(`${directory}/compiled-${home.split('/').at(-1)}`)
        : { flags: [], env: {} };
      return { args: [...flags, program, 'run', '--config', join(home, 'config.json')], env };
    };
  const programs: readonly Program[] = [
    { name: 'bridge, both sinks connected', command: bridge(file('bridge')) },
    { name: 'bridge, quiet VM', command: bridge(file('bridge')), isQuiet: true },
    { name: 'connected, without what the unit sets', command: bridge(file('bridge'), false) },
    { name: 'connected, not bundled', command: bridge(join(root, 'src/main.ts')) },
    { name: 'connected, node:http for undici', command: bridge(file('with-node-http')) },
    { name: 'quiet, node:http for undici', command: bridge(file('with-node-http')), isQuiet: true },
    { name: 'connected, all in one process', command: bridge(file('one-process')) },
    { name: 'naive program', command: (_, vm) => ({ args: [naive], env: naiveEnv(vm) }) },
    { name: 'naive program, bundled', command: (_, vm) => ({ args: [file('naive')], env: naiveEnv(vm) }) },
  ];
  return [
    ...programs.map((program) => ofProgram(program, place)),
    { name: 'undici alone', start: (round) => startPolling(azure, `undici_${round}`, undiciPoll) },
    { name: 'node:http alone', start: (round) => startPolling(azure, `http_${round}`, httpPoll) },
    { name: 'bare Node', start: () => ({ ...startNode(['-e', 'setInterval(() => {}, 1000)']), polls: () => 0 }) },
  ];
}

function ofProgram({ name, command, isQuiet = false }: Program, { azure, directory }: Place): Variant {
  const id = name.replace(/\W+/g, '-');
  const home = join(directory, id);
  return {
    name,
    start(round) {
      const vm = `${id}_${round}`;
      mkdirSync(home, { recursive: true });
      // The connection to the hub is kept only around the start of an event, unless it may be idle for longer.
      const { eventHubs, logAnalytics } = bridgeConfiguration(azure, vm, '').sinks;
      const sinks = { eventHubs: { ...eventHubs, idleCloseSeconds: 3600 }, logAnalytics };
      // The heartbeat of the start would keep a sender for the first minute.
      const settings = { sinks, log: { level: 'error' }, heartbeat: { everyMinutes: 0 } };
      const config = { ...bridgeConfiguration(azure, vm, join(home, `${round}`)), ...settings };
      writeFileSync(join(home, 'config.json'), JSON.stringify(config));
      const from = { events: azure.eventHubs.events().length, rows: azure.logAnalytics.rows().length };
      if (!isQuiet) azure.imds.schedule({ eventType: 'Freeze', resources: [vm] });
      const { args, env } = command(home, vm);
      const { child } = startNode(args, env);
      const polls = (): number => azure.imds.requests('scheduledevents', vm);
      const isDone = (): boolean => {
        if (child.exitCode !== null) throw new Error(`${name} ended with code ${child.exitCode}`);
        if (isQuiet) return polls() > 2;
        return (
          azure.eventHubs
            .events()
            .slice(from.events)
            .some(({ body }) => body.includes(vm)) &&
          azure.logAnalytics
            .rows()
            .slice(from.rows)
            .some((row) => JSON.stringify(row).includes(vm))
        );
      };
      return { child, polls, ready: until(isDone, { timeoutMs: 120_000, everyMs: 250, what: `${name} to have sent` }) };
    },
  };
}

/** What a poll costs on this machine before anything is done with the answer. */
function startPolling(azure: AzureSimulator, vm: string, script: (url: URL) => string): Started {
  const url = new URL(`${azure.imds.vmUrl(vm)}/metadata/scheduledevents?api-version=2020-07-01`);
  return { ...startNode(['-e', script(url)]), polls: () => azure.imds.requests('scheduledevents', vm) };
}

const undiciPoll = ({ origin, pathname, search }: URL): string => {
  const client = createRequire(import.meta.url).resolve('undici/lib/dispatcher/client.js');
  return `const client = new (require(${JSON.stringify(client)}))(${JSON.stringify(origin)});
    const request = { path: ${JSON.stringify(pathname + search)}, method: 'GET', headers: { metadata: 'true' } };
    const handler = { onRequestStart() {}, onResponseStart() {}, onResponseData() {}, onResponseEnd() {}, onResponseError() {} };
    setInterval(() => client.dispatch(request, handler), 1000);`;
};

const httpPoll = ({ href }: URL): string =>
  `const { Agent, get } = require('node:http');
    const options = { agent: new Agent({ keepAlive: true, maxSockets: 1 }), headers: { metadata: 'true' } };
    setInterval(() => get(${JSON.stringify(href)}, options, (answer) => answer.resume()), 1000);`;

/** Without what this machine's environment adds: authorities, proxies, options of Node. */
function startNode(args: readonly string[], env: NodeJS.ProcessEnv = {}): Pick<Started, 'child' | 'ready'> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env });
  return { child, ready: Promise.resolve() };
}
