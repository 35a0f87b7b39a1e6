import { canFreeze } from '../cli/freeze-process.ts';
import type { AzureSimulator } from '../index.ts';
import { type Impact, playScenario } from '../player.ts';
import { findScenario } from '../scenarios/index.ts';
import type { BridgeProcess } from './bridge-process.ts';
import type { Happening } from './moment.ts';
import type { Waits } from './waits.ts';

/** What the script acts on. */
export interface Scene extends Pick<Waits, 'until' | 'pause' | 'signal'> {
  readonly azure: AzureSimulator;
  readonly vm: string;
  readonly bridge: BridgeProcess;
  readonly tell: (happening: Happening) => void;
  /** Whether such a record was read back. */
  readonly wasRead: (eventType: string, phase: string) => boolean;
  /** Records that wait in the outbox for the event hub. */
  readonly waiting: () => number;
}

/** A bridge looks once a second: no step may be shorter than two looks. */
const minimumStepSeconds = 2;
/** What every freeze of the show takes: above the second from which a pause is evidence. */
const frozenSeconds = 1.5;
/** Longer than the bridge has left to live: the table has stored the row, and nobody is there to hear so. */
const lateAnswerMs = 10_000;

/**
 * What happens, and when. Two events are under way at once, and what matters waits for what it needs instead of for a
 * time, so that a slow machine sees the same show.
 */
export async function playScript(scene: Scene): Promise<void> {
  const { bridge, tell, pause, azure, until, wasRead } = scene;
  bridge.start();
  tell({ kind: 'bridge', state: 'starting' });
  await looking(scene, 0);

  const thawed = Promise.withResolvers<void>();
  const freeze = play(scene, 'freeze', 180, ({ seconds }) => void freezeFor(scene, seconds).then(thawed.resolve));
  await pause(1200);
  // Ahead of the start of the freeze, so that it is the only change of its document; see the evidence for a cancellation.
  await play(scene, 'canceled', 200);
  await Promise.race([thawed.promise, freeze]);

  const restarted = Promise.withResolvers<void>();
  const reboot = play(
    scene,
    'reboot',
    150,
    ({ seconds }) => void killAndRestart(scene, seconds).then(restarted.resolve),
  );
  await until('the reboot to be read', () => wasRead('Reboot', 'Scheduled'));
  await pause(2000);
  await azure.eventHubs.pause({ drop: true });
  azure.logAnalytics.fault({ delayMs: lateAnswerMs }, 1);
  tell({ kind: 'outage', begins: true });
  await restarted.promise;
  const preempt = play(scene, 'preempt', 8);
  await Promise.all([freeze, reboot, preempt]);
}

async function play(
  { azure, vm, signal }: Scene,
  name: string,
  speed: number,
  feel?: (impact: Impact) => void,
): Promise<void> {
  const scenario = findScenario(name);
  if (!scenario) throw new Error(`there is no scenario ${name}`);
  await playScenario(azure, scenario, {
    speed,
    minimumStepSeconds,
    minimumImpactSeconds: frozenSeconds,
    vms: [vm],
    signal,
    ...(feel && { feel }),
  });
}

async function freezeFor({ bridge, tell }: Scene, seconds: number): Promise<void> {
  if (!canFreeze) return;
  tell({ kind: 'bridge', state: 'frozen' });
  await bridge.freeze(seconds);
  tell({ kind: 'bridge', state: 'running' });
}

/** While a record waits for the event hub, which is down. It comes back only when the bridge has. */
async function killAndRestart(scene: Scene, seconds: number): Promise<void> {
  const { azure, bridge, tell, until, pause, waiting } = scene;
  await until('a record to wait in the outbox', () => waiting() > 0);
  const looks = azure.imds.polls[scene.vm] ?? 0;
  await bridge.kill();
  tell({ kind: 'bridge', state: 'killed' });
  await pause(1000 * seconds);
  bridge.start();
  tell({ kind: 'bridge', state: 'starting' });
  await looking(scene, looks);
  await pause(800);
  await azure.eventHubs.resume();
  tell({ kind: 'outage', begins: false });
}

async function looking({ azure, vm, until, tell }: Scene, before: number): Promise<void> {
  await until('the bridge to look', () => (azure.imds.polls[vm] ?? 0) > before);
  tell({ kind: 'bridge', state: 'running' });
}
