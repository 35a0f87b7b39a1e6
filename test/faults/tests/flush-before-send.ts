import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createRandom } from '../../fleet-model/random.ts';
import { hubRecords } from '../../support/delivered.ts';
import { until } from '../../support/until.ts';
import type { FaultContext, FaultTest } from '../fault-test.ts';
import { readTrace, type TracedCall, traceOptions, whyNoStrace } from '../file-calls/strace.ts';
import { FleetUnderTest, type Vm } from '../fleet/fleet-under-test.ts';

/** Watches the system calls of a bridge: no byte of a record leaves the process before the flush of its commit has returned. */
export const flushBeforeSend: FaultTest = {
  id: 'flush-before-send',
  title: 'the order of flushes and sends, as strace sees it',
  kind: 'processes',
  cases: { quick: 3, full: 200 },
  load: { seconds: 20, processors: 0.1 },
  whyNot: whyNoStrace,
  async run(context) {
    const random = createRandom(context.seed);
    const fleet = await FleetUnderTest.start(context, { vms: ['web_0'] });
    const out = join(context.directory, 'strace');
    const [vm] = fleet.vms as [Vm];
    try {
      fleet.startBridge(vm);
      await until(() => (fleet.azure.imds.polls[vm.name] ?? 0) > 1, { what: 'the first polls' });
      await attach(vm, out, context);
      for (let n = 0; n < context.cases; n += 1) await fleet.announce(random);
      const freshArrived = await fleet.freshArrives(random, 60);
      const { lost, copies, broken } = fleet.judge();
      const ids = hubRecords(fleet.azure).map(({ recordId }) => recordId);
      await fleet.kill(vm, 'SIGTERM');
      const { sends, early, unseen } = judgeOrder(readTrace(out), ids, join(vm.stateDirectory, 'outbox.sqlite-wal'));
      return {
        lost,
        duplicated: { found: copies, allowed: 0 },
        happened: [
          { what: 'records sent', count: sends, least: 2 * context.cases },
          { what: 'records whose commit was seen', count: ids.length - unseen.length, least: ids.length },
        ],
        worst: null,
        freshArrived,
        conservation: fleet.conservation,
        broken: [...broken, ...early.map((id) => `the record ${id} was sent before the flush of its commit returned`)],
      };
    } finally {
      await fleet.close();
    }
  },
};

/** Traces the running bridge, without the processes that send for it: what they get has left the bridge before. */
async function attach({ bridge }: Vm, out: string, { signal }: FaultContext): Promise<void> {
  const strace = spawn('strace', [...traceOptions(out), '-p', String(bridge?.child.pid)], {
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  strace.on('error', () => {});
  await once(strace.stderr, 'data');
}

/** @returns how often a record was sent; which were sent before they were on disk, and which were never written there. */
function judgeOrder(calls: readonly TracedCall[], ids: readonly string[], log: string) {
  const [written, durable] = [new Set<string>(), new Set<string>()];
  const early = new Set<string>();
  let sends = 0;
  const idsIn = ({ text }: TracedCall): readonly string[] => ids.filter((id) => text.includes(id));
  for (const call of calls) {
    if (/^(fsync|fdatasync)$/.test(call.name) && call.path === log) for (const id of written) durable.add(id);
    else if (!/write|send/.test(call.name)) continue;
    else if (call.path === log) for (const id of idsIn(call)) written.add(id);
    else if (!call.path.startsWith('/')) {
      for (const id of idsIn(call)) {
        sends += 1;
        if (!durable.has(id)) early.add(id);
      }
    }
  }
  return { sends, early: [...early], unseen: ids.filter((id) => !written.has(id)) };
}
