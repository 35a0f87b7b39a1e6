import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BlobCheckpointStore } from '@azure/eventhubs-checkpointstore-blob';
import type { ContainerClient } from '@azure/storage-blob';
import { expect, onTestFinished, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { createRandom } from '../fleet-model/random.ts';
import { configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { until } from '../support/until.ts';
import { type Azurite, startAzurite, whyNoAzurite } from './azurite.ts';

const reason = whyNoAzurite();
const vms = ['web_0', 'web_1', 'web_2'];

/** What Azure does, and what has to be done about it, by VM: made beforehand, from the rule that a VM is out from its first event to the end of its last. */
type Step =
  | { readonly announce: string; readonly on: readonly string[]; readonly acts: readonly string[] }
  | { readonly start: string; readonly acts: readonly [] }
  | { readonly end: string; readonly acts: readonly string[] };

const timeline: readonly Step[] = [
  { announce: 'A', on: ['web_0', 'web_1'], acts: ['drain web_0 A', 'drain web_1 A'] },
  { announce: 'B', on: ['web_1', 'web_2'], acts: ['drain web_1 B', 'drain web_2 B'] },
  { start: 'A', acts: [] },
  { end: 'A', acts: ['restore web_0 A'] },
  { announce: 'C', on: ['web_0'], acts: ['drain web_0 C'] },
  { start: 'B', acts: [] },
  { end: 'B', acts: ['restore web_1 B', 'restore web_2 B'] },
  { announce: 'D', on: ['web_2', 'web_0'], acts: ['drain web_2 D', 'drain web_0 D'] },
  { start: 'C', acts: [] },
  { end: 'C', acts: [] },
  { start: 'D', acts: [] },
  { end: 'D', acts: ['restore web_2 D', 'restore web_0 D'] },
];

interface Subscriber {
  readonly child: ChildProcess;
  readonly lines: string[];
  readonly complaints: () => string;
}

function startSubscriber({ eventHubs, imds, caFile }: AzureSimulator, { connectionString }: Azurite): Subscriber {
  const child = spawn(process.execPath, ['infra/examples/shared-partitions/subscriber.ts'], {
    env: {
      PATH: process.env.PATH,
      NODE_EXTRA_CA_CERTS: caFile,
      AZURE_POD_IDENTITY_AUTHORITY_HOST: imds.url,
      EVENT_HUBS_NAMESPACE: eventHubs.fullyQualifiedNamespace,
      EVENT_HUBS_CUSTOM_ENDPOINT: eventHubs.customEndpoint,
      STORAGE_CONNECTION_STRING: connectionString,
      STATE_CONTAINER: 'subscriber',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const lines: string[] = [];
  child.stdout.on('data', (chunk) => {
    const all = (output.stdout + chunk).split('\n');
    output.stdout = all.pop() ?? '';
    lines.push(...all);
  });
  child.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  return { child, lines, complaints: () => output.stderr };
}

test.skipIf(reason)(
  `two processes that share the partitions act on every step, and on none twice in effect, though they are killed or paused at any moment${reason}`,
  { timeout: 600_000 },
  async () => {
    const seed = Number(process.env.SEED ?? Date.now() % 100_000);
    const random = createRandom(seed);
    const azurite = await startAzurite();
    onTestFinished(() => azurite.close());
    const container = await azurite.container('subscriber');
    const azure = await startAzureSimulator({ vms: vms.map((name) => ({ name })) });
    const folders = vms.map((vm) => temporaryDirectory(vm));
    const bridges = vms.map((vm, n) => startBridge(configurationFor(azure, vm, folders[n]?.path ?? '')));
    const all: Subscriber[] = [];
    onTestFinished(async () => {
      const children = [...bridges, ...all].map(({ child }) => child);
      for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await azure.close();
      for (const folder of folders) folder[Symbol.dispose]();
    });
    await until(() => vms.every((vm) => (azure.imds.polls[vm] ?? 0) > 1), { what: 'first polls' });
    let running = [0, 1].map(() => startSubscriber(azure, azurite));
    all.push(...running);

    const ids = new Map<string, string>();
    /** What was done to each VM, with the name of the event. A repetition has no effect. */
    const actsByVm = (): { readonly acts: Readonly<Record<string, string[]>>; readonly repeated: number } => {
      const acts: Record<string, string[]> = {};
      let repeated = 0;
      for (const line of all.flatMap(({ lines }) => lines).toSorted()) {
        const [, act = '', vm = '', id = ''] = /^\S+ (\w+) (\w+): .* (\S+)$/.exec(line) ?? [line];
        const event = [...ids].find(([, known]) => known.toLowerCase() === id)?.[0] ?? id;
        const text = `${act} ${vm} ${event}`;
        acts[vm] ??= [];
        if (acts[vm].at(-1) === text) repeated += 1;
        else acts[vm].push(text);
      }
      return { acts, repeated };
    };
    const expected: Record<string, string[]> = {};
    const count = { kills: 0, pauses: 0 };
    for (const step of timeline) {
      if ('announce' in step) {
        const notBefore = new Date(Date.now() + 900_000);
        ids.set(step.announce, azure.imds.schedule({ eventType: 'Reboot', resources: [...step.on], notBefore }));
      } else if ('start' in step) azure.imds.start(ids.get(step.start) ?? '');
      else azure.imds.remove(ids.get(step.end) ?? '');
      for (const act of step.acts) {
        const vm = act.split(' ')[1] ?? '';
        expected[vm] = [...(expected[vm] ?? []), act];
      }
      const stored = azure.eventHubs.events().length;
      let paused: Subscriber | undefined;
      if (random.chance(0.7)) {
        const isInAnAct = step.acts.length > 0 && random.chance(0.5);
        const isPause = !isInAnAct && random.chance(0.4);
        const victim = isInAnAct
          ? await killInAnAct(running)
          : await stopAfter(random.int(0, 2_500), random.pick(running), isPause ? 'SIGSTOP' : 'SIGKILL');
        const next = startSubscriber(azure, azurite);
        all.push(next);
        running = [...running.filter((one) => isPause || one !== victim), next];
        if (isPause) paused = victim;
        count[isPause ? 'pauses' : 'kills'] += 1;
      }
      const situation = (): string =>
        `seed ${seed}, ${JSON.stringify(step)}: ${JSON.stringify(actsByVm())}; ${running.map((one) => one.complaints()).join('')}`;
      await until(() => azure.eventHubs.events().length > stored, { what: `records of ${situation()}` });
      const isDone = async (): Promise<boolean> =>
        (await isHandled(azure, container)) && isEqual(actsByVm().acts, expected);
      await until(isDone, { timeoutMs: 90_000, everyMs: 250, what: 'acts' }).catch((error) => {
        throw new Error(`${error.message}; ${situation()}`);
      });
      // It finds that others own its partitions, and that what it was about to do is done.
      paused?.child.kill('SIGCONT');
    }
    const { acts, repeated } = actsByVm();
    console.log(`  seed ${seed}: ${JSON.stringify(count)}, ${repeated} acts repeated without effect`);
    expect(acts).toEqual(expected);
    expect(count.kills + count.pauses).toBeGreaterThan(2);
    // A kill leaves at most the act of each VM in doubt that was in progress.
    expect(repeated).toBeLessThanOrEqual((count.kills + count.pauses) * vms.length);
    expect(azure.errors).toEqual([]);
  },
);

async function stopAfter(ms: number, victim: Subscriber, signal: 'SIGKILL' | 'SIGSTOP'): Promise<Subscriber> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  victim.child.kill(signal);
  if (signal === 'SIGKILL') await once(victim.child, 'exit');
  return victim;
}

/** Kills the first process that acts, most often before it has saved that it did. */
async function killInAnAct(running: readonly Subscriber[]): Promise<Subscriber> {
  let victim: Subscriber | undefined;
  for (const one of running)
    one.child.stdout?.once('data', () => {
      if (victim === undefined) one.child.kill('SIGKILL');
      victim ??= one;
    });
  const killed = await until(() => victim, { what: 'an act', timeoutMs: 60_000 });
  await until(() => killed.child.signalCode, { what: 'its exit' });
  return killed;
}

const isEqual = (one: unknown, other: unknown): boolean => {
  const sorted = (value: unknown): string => JSON.stringify(Object.entries(value as object).toSorted());
  return sorted(one) === sorted(other);
};

/** Every partition has a checkpoint at its last record. */
async function isHandled({ eventHubs }: AzureSimulator, container: ContainerClient): Promise<boolean> {
  // The client stores checkpoints under the host that it connects to.
  const { hostname } = new URL(eventHubs.customEndpoint.replace('sb:', 'https:'));
  const { eventHubName } = eventHubs;
  const saved = await new BlobCheckpointStore(container).listCheckpoints(hostname, eventHubName, '$Default');
  const byPartition = Map.groupBy(eventHubs.events(), ({ partition }) => partition);
  return [...byPartition].every(
    ([partition, events]) =>
      saved.find(({ partitionId }) => partitionId === String(partition))?.sequenceNumber === events.length - 1,
  );
}
