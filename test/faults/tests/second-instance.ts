import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createRandom } from '../../fleet-model/random.ts';
import type { FaultTest } from '../fault-test.ts';
import { FleetUnderTest } from '../fleet/fleet-under-test.ts';

/** Of `exitCodes.alreadyRunning`, as README.md documents it. */
const alreadyRunning = 75;

/** Starts a second bridge on the state directory of a running one. */
export const secondInstance: FaultTest = {
  id: 'second-instance',
  title: 'a second bridge is started on the same state directory',
  kind: 'processes',
  cases: { quick: 4, full: 100 },
  load: { seconds: 15, processors: 0.2 },
  async run(context) {
    const random = createRandom(context.seed);
    const fleet = await FleetUnderTest.start(context, { vms: ['web_0'] });
    const broken: string[] = [];
    let refused = 0;
    let worstMs = 0;
    try {
      const [vm] = fleet.vms;
      if (!vm) throw new Error('there is no VM');
      const first = fleet.startBridge(vm);
      await fleet.firstDocuments();
      let isOver = false;
      const announce = async (): Promise<void> => {
        do await fleet.announce(random);
        while (!isOver);
      };
      const startOthers = async (): Promise<void> => {
        for (let n = 1; n <= context.cases; n += 1) {
          context.signal.throwIfAborted();
          const began = performance.now();
          await promisify(execFile)(process.execPath, [context.program, '--version']);
          const started = performance.now();
          const other = fleet.startBridge({ ...vm });
          await Promise.race([other.exited, sleep(10_000, undefined, { ref: false })]);
          worstMs = Math.max(worstMs, performance.now() - started - (started - began));
          const { exitCode: code } = other.child;
          if (code === null) other.kill('SIGKILL');
          if (code === alreadyRunning && other.stderr().includes(vm.stateDirectory)) refused += 1;
          else broken.push(`the second instance ended with code ${code} and: ${other.stderr().trim()}`);
        }
      };
      await Promise.all([
        announce(),
        startOthers().finally(() => {
          isOver = true;
        }),
      ]);
      if (first.child.exitCode !== null || first.child.signalCode !== null) broken.push('the first instance has ended');
      const freshArrived = await fleet.freshArrives(random, 30);
      const { lost, copies, broken: misjudged } = fleet.judge();
      return {
        lost,
        duplicated: { found: copies, allowed: 0 },
        happened: [{ what: 'refused instances', count: refused, least: context.cases }],
        // Without the start of the program, which a busy machine delays.
        worst: { what: 'refusal', seconds: worstMs / 1000, mostSeconds: 1 },
        freshArrived,
        conservation: fleet.conservation,
        broken: [...misjudged, ...broken],
      };
    } finally {
      await fleet.close();
    }
  },
};
