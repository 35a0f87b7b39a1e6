import { canFreeze } from '../cli/freeze-process.ts';
import { type Impact, playScenario } from '../player.ts';
import { findScenario, rollingMaintenance } from '../scenarios/index.ts';
import type { BridgeProcess } from './bridge-process.ts';
import type { Scene } from './perform.ts';

/** The show with one VM also has its bridge. */
export interface VmScene extends Scene {
  readonly vm: string;
  readonly bridge: BridgeProcess;
}

/** A bridge polls once a second; no step may be shorter than two polls. */
const minimumStepSeconds = 2;
/** After the first poll: what a bridge sees in its first second may have been there before. */
const settleMs = 1500;
/** Length of every freeze in the show: above the second from which a pause counts as evidence. */
const frozenSeconds = 1.5;
/** Longer than the bridge has left to live: the table stores the row, and the answer comes after `kill -9`. */
const lateAnswerMs = 10_000;

/**
 * What happens to the one VM. Two events are under way at once, and each act waits for what it needs instead of for a
 * time, so that the show is the same on a slow machine.
 */
export async function playForVm(scene: VmScene): Promise<void> {
  const { bridge, report, pause, azure, need, show } = scene;
  bridge.start();
  report({ kind: 'bridge', state: 'starting' });
  await pollAfter(scene, 0);
  await pause(settleMs);

  const thawed = Promise.withResolvers<void>();
  const freeze = play(scene, 'freeze', 180, ({ seconds }) => void freezeFor(scene, seconds).then(thawed.resolve));
  await pause(1200);
  // Before the freeze starts, so that it is the only change of its document: the evidence for a cancellation needs that.
  await play(scene, 'canceled', 200);
  await Promise.race([thawed.promise, freeze]);

  const restarted = Promise.withResolvers<void>();
  const reboot = play(
    scene,
    'reboot',
    150,
    ({ seconds }) => void killAndRestart(scene, seconds).then(restarted.resolve),
  );
  await need('a record of the reboot', () =>
    show().records.some(({ record }) => record.eventType === 'Reboot' && record.phase === 'Scheduled'),
  );
  await pause(2000);
  await azure.eventHubs.pause({ drop: true });
  azure.logAnalytics.fault({ delayMs: lateAnswerMs }, 1);
  report({ kind: 'outage', begins: true });
  await restarted.promise;
  const preempt = play(scene, 'preempt', 8);
  await Promise.all([freeze, reboot, preempt]);
}

async function play(
  { azure, vm, signal }: VmScene,
  name: string,
  speed: number,
  onImpact?: (impact: Impact) => void,
): Promise<void> {
  const scenario = findScenario(name);
  if (!scenario) throw new Error(`there is no scenario ${name}`);
  await playScenario(azure, scenario, {
    speed,
    minimumStepSeconds,
    minimumImpactSeconds: frozenSeconds,
    vms: [vm],
    signal,
    ...(onImpact && { onImpact: onImpact }),
  });
}

async function freezeFor({ bridge, report }: VmScene, seconds: number): Promise<void> {
  if (!canFreeze) return;
  report({ kind: 'bridge', state: 'frozen' });
  await bridge.freeze(seconds);
  report({ kind: 'bridge', state: 'running' });
}

/** While a record is pending for the event hub, which is down. The hub returns after the bridge. */
async function killAndRestart(scene: VmScene, seconds: number): Promise<void> {
  const { azure, bridge, report, need, pause, show } = scene;
  await need('a record pending in the outbox', () => show().pending > 0);
  const polls = azure.imds.polls[scene.vm] ?? 0;
  await bridge.kill();
  report({ kind: 'bridge', state: 'killed' });
  await pause(1000 * seconds);
  bridge.start();
  report({ kind: 'bridge', state: 'starting' });
  await pollAfter(scene, polls);
  await pause(800);
  await azure.eventHubs.resume();
  report({ kind: 'outage', begins: false });
}

async function pollAfter({ azure, vm, need, report }: VmScene, polls: number): Promise<void> {
  await need('a poll of the bridge', () => (azure.imds.polls[vm] ?? 0) > polls);
  report({ kind: 'bridge', state: 'running' });
}

/** Of a fleet: each VM has to poll within it. */
const fleetStepSeconds = 3.2;

/** Maintenance of a scale set, one update domain after the other. */
export async function playForFleet({ azure, show, need, signal }: Scene): Promise<void> {
  const { vms, domains } = show();
  await need('a poll of every bridge', () => show().polling >= vms.length);
  const scenario = rollingMaintenance(vms.length, domains);
  const speed = scenario.demoSpeed;
  await playScenario(azure, scenario, { speed, minimumStepSeconds: fleetStepSeconds, vms, signal });
}
