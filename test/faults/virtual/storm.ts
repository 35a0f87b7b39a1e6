import type { AzureSimulator } from '../../../src/azure-simulator/index.ts';
import type { FaultContext, Outcome } from '../fault-test.ts';
import type { SinkName } from '../wire/scene.ts';
import type { Resources } from './protocol.ts';
import { VirtualBridge } from './virtual-bridge.ts';

/** A service that refuses everything for so long. */
export interface Storm {
  readonly name: string;
  readonly sinks: readonly SinkName[];
  /** What `status` and the log call it. */
  readonly code: RegExp;
  /** How long it lasts. */
  readonly minutes: number;
  /** After its end, without any help. */
  readonly mostHealSeconds: number;
  begin(azure: AzureSimulator, now: Date): void;
  end(azure: AzureSimulator): void;
  /** Refusals so far. */
  refusals(azure: AzureSimulator): number;
  /** How many refusals it may have in all. */
  readonly mostRefusals: number;
}

const mostFoundSeconds = 15;

/** A record of a Preempt is sent after at most a poll, and between two attempts out of turn lie 5 s. */
const mostUrgentSeconds = 11;

interface Totals {
  readonly broken: string[];
  readonly happened: { what: string; count: number; least: number }[];
  worst: number;
}

/** Plays storms one after the other to one bridge, and judges at the end what arrived. */
export async function playStorms(storms: readonly Storm[], context: FaultContext): Promise<Outcome> {
  const bridge = await VirtualBridge.start(context);
  const totals: Totals = { broken: [], happened: [], worst: 0 };
  try {
    bridge.schedule('Freeze', 24 * 60);
    const isDelivered = (): boolean => bridge.judge().lost === 0;
    if ((await bridge.until(isDelivered, 30)) === null) totals.broken.push('the first event did not arrive');
    // With everything loaded that the first failure loads.
    let first: Resources | null = null;
    for (const storm of storms) {
      context.signal.throwIfAborted();
      await playStorm(storm, bridge, totals, context.say);
      // With one fault it has failed; each further storm may take as long as the deadlines of the libraries.
      if (totals.broken.length > 0) break;
      // Connections that are not needed any more are closed after a minute.
      await bridge.advance(120_000);
      first ??= await bridge.measure();
    }
    if (first) totals.broken.push(...growth(first, await bridge.measure(), bridge.azure.eventHubs.connectionsOpened));
    bridge.schedule('Freeze', 24 * 60);
    const freshArrived = (await bridge.until(isDelivered, 30)) !== null;
    if (bridge.missedPolls > 0) totals.broken.push(`${bridge.missedPolls} polls were missed`);
    const { lost, copies, broken } = bridge.judge();
    return {
      lost,
      duplicated: { found: copies, allowed: 0 },
      happened: totals.happened,
      worst: { what: 'found', seconds: totals.worst, mostSeconds: mostFoundSeconds },
      freshArrived,
      conservation: bridge.conservation,
      broken: [...totals.broken, ...broken],
    };
  } finally {
    await bridge.close();
  }
}

async function playStorm(
  storm: Storm,
  bridge: VirtualBridge,
  totals: Totals,
  say: (line: string) => void,
): Promise<void> {
  const { azure } = bridge;
  const { name, sinks, code, minutes, mostHealSeconds, mostRefusals } = storm;
  const complain = (what: string): void => void totals.broken.push(`${name}: ${what}`);
  const before = storm.refusals(azure);
  const refusals = (): number => storm.refusals(azure) - before;
  const logged = bridge.log.length;
  storm.begin(azure, bridge.now);
  bridge.schedule('Freeze', 24 * 60);

  const isFound = (): boolean =>
    sinks.every((sink) => {
      const { counters, progress } = bridge.sink(sink);
      const isLogged = bridge.log
        .slice(logged)
        .some(({ fields }) => fields.sink === sink && code.test(String(fields.code)));
      return counters.pending > 0 && code.test(progress.lastErrorCode ?? '') && isLogged;
    });
  const found = await bridge.until(isFound, 60);
  if (found === null) {
    const codes = sinks.map((sink) => `${sink} ${bridge.sink(sink).progress.lastErrorCode ?? 'nothing'}`);
    complain(`not found in 60 s; the last errors were ${codes.join(', ')}`);
    storm.end(azure);
    return;
  }
  // Until the record has been polled, no sink can meet the fault.
  totals.worst = Math.max(totals.worst, found);

  await bridge.advance((minutes / 2) * 60_000);
  const refusedBefore = refusals();
  const preempt = bridge.schedule('Preempt', 0.5);
  const tried = await bridge.until(() => refusals() >= refusedBefore + sinks.length, 60);
  if (tried === null || tried > mostUrgentSeconds)
    complain(`a Preempt in the middle was tried after ${tried ?? 'more than 60'} s`);
  bridge.remove(preempt);
  await bridge.advance((minutes / 2) * 60_000);
  for (const sink of sinks) {
    const { counters } = bridge.sink(sink);
    if (counters.dead > 0 || counters.expired > 0)
      complain(`${sink} has ${counters.dead} dead letters and ${counters.expired} expired`);
  }
  storm.end(azure);
  const healed = await bridge.until(() => bridge.judge().lost === 0, mostHealSeconds + 60);
  if (healed === null || healed > mostHealSeconds)
    complain(`delivered again after ${healed ?? 'more than'} s, at most ${mostHealSeconds} s are allowed`);
  if (refusals() > mostRefusals)
    complain(`${refusals()} attempts in ${minutes} min, at most ${mostRefusals} are allowed`);
  totals.happened.push({ what: name, count: refusals(), least: sinks.length });
  say(
    `${name}: found after ${found} s, a Preempt tried after ${tried} s, delivered again after ${healed} s, ${refusals()} attempts in ${minutes} min`,
  );
}

/** What grew between the end of the first storm and that of the last one, in which as much was opened as in the first. */
function growth(first: Resources, last: Resources, connectionsOpened: number): readonly string[] {
  const most: Resources = {
    active: 2,
    // The AMQP library keeps the idle timer of a closed connection for two minutes, in which hours pass here.
    timers: 3 + connectionsOpened,
    sleepers: 2,
    listeners: 0,
    heapMegabytes: 10,
  };
  return Object.entries(most).flatMap(([name, allowed]) => {
    const key = name as keyof Resources;
    const grown = last[key] - first[key];
    return grown > allowed ? [`${name} grew from ${first[key].toFixed(1)} to ${last[key].toFixed(1)}`] : [];
  });
}
