import type { EventHubsSimulator } from './event-hubs/server.ts';
import type { ImdsSimulator } from './imds/server.ts';
import type { LogsIngestionSimulator } from './logs-ingestion/server.ts';
import type { Announce, Change, Disturbance, ImpactKind, ImpactStep, Scenario, Step } from './scenarios/scenario.ts';

/** What a scenario is played on: a simulator, or parts of one. A fault of a part that is not there is left out. */
export interface Stage {
  readonly imds: ImdsSimulator;
  readonly eventHubs?: Pick<EventHubsSimulator, 'fault'>;
  readonly logAnalytics?: Pick<LogsIngestionSimulator, 'fault'>;
}

export interface PlayOptions {
  /** How many times faster than real; not under 0.1, since a timer counts no further than 24 days. Default 1. Notices shrink with it. */
  readonly speed?: number;
  /** However fast it is played, a step that waits waits at least so long: polls come once a second. Default 0. */
  readonly minimumStepSeconds?: number;
  /** Names of its VMs, number 0 first; added where missing. Default: those that are there, and `web_1`, `web_2` … after them. */
  readonly vms?: readonly string[];
  /** Called with each effect on VMs: the simulator itself cannot stop one. */
  readonly onImpact?: (impact: Impact) => void;
  /** However fast it is played, an impact is at least so long, if it is that long in reality. Default 0. */
  readonly minimumImpactSeconds?: number;
  /** Awaited before each step that waits, when its time has come: holds the play until what it shows has been observed. */
  readonly beforeStep?: (step: Step) => Promise<void>;
  /** Ends the play where it is; what is listed then stays listed. */
  readonly signal?: AbortSignal;
}

/** VMs are frozen or restart, from now for that many seconds of the play. */
export interface Impact {
  readonly kind: ImpactKind;
  readonly vms: readonly string[];
  readonly seconds: number;
}

/** What was played. */
export interface Play {
  /** False: it was aborted. */
  readonly over: boolean;
  readonly eventIds: readonly string[];
}

/** Plays a scenario; resolves when it has ended or is aborted, and rejects only on a faulty scenario. */
export async function playScenario(stage: Stage, scenario: Scenario, options: PlayOptions = {}): Promise<Play> {
  const { speed = 1, minimumStepSeconds = 0, minimumImpactSeconds = 0, onImpact, beforeStep, signal } = options;
  const { imds } = stage;
  const vms = cast(imds, scenario, options.vms);
  const eventIds = new Map<string, string>();

  const idOf = (label: string): string => {
    const eventId = eventIds.get(label);
    if (eventId === undefined) throw new Error(`scenario ${scenario.name} names ${label} before it schedules it`);
    return eventId;
  };
  const nameOf = (number: number): string => {
    const name = vms[number];
    if (name === undefined) throw new Error(`scenario ${scenario.name} names VM ${number} and has ${vms.length}`);
    return name;
  };
  const isStarted = (label: string): boolean => imds.find(idOf(label))?.EventStatus === 'Started';
  const isApproved = (step: Step): boolean => step.do === 'start' && isStarted(step.event);
  const notBefore = (noticeSeconds: number): Date => new Date(Date.now() + (noticeSeconds * 1000) / speed);
  const played = (seconds: number): number => Math.max(seconds / speed, Math.min(seconds, minimumImpactSeconds));

  const announce = ({ event, noticeSeconds, do: _, on = [0], ...fields }: Announce): void => {
    const when = noticeSeconds === null ? ({ status: 'Started' } as const) : { notBefore: notBefore(noticeSeconds) };
    eventIds.set(event, imds.schedule({ ...fields, ...when, resources: on.map(nameOf) }));
  };
  const change = ({ event, noticeSeconds, do: _, on, ...fields }: Change): void => {
    const when = noticeSeconds === undefined ? {} : { notBefore: notBefore(noticeSeconds) };
    imds.update(idOf(event), { ...fields, ...when, ...(on === undefined ? {} : { resources: on.map(nameOf) }) });
  };
  const applyImpact = ({ event, kind, on = [0], seconds }: ImpactStep): void => {
    const vms = on.map(nameOf);
    if (isStarted(event)) onImpact?.({ kind, vms, seconds: played(seconds) });
  };
  const disturb = (step: Disturbance): void => {
    if (step.do === 'switch-off') {
      imds.firstCallDelay(1000 * played(step.firstCallSeconds));
      imds.switchOff();
    } else if (step.at === 'eventHubs') stage.eventHubs?.fault(step.fault);
    else if (step.at === 'logAnalytics') stage.logAnalytics?.fault(step.fault);
    else imds.fault(step.at, step.fault);
  };
  const act = ({ afterSeconds: _, ...step }: Step): void => {
    if (step.do === 'schedule') announce(step);
    else if (step.do === 'change') change(step);
    else if (step.do === 'start') imds.start(idOf(step.event));
    else if (step.do === 'remove') imds.remove(idOf(step.event));
    else if (step.do === 'approve') imds.approve(idOf(step.event), nameOf(step.by));
    else if (step.do === 'impact') applyImpact(step);
    else disturb(step);
  };

  for (const step of scenario.steps) {
    const waitMs = Math.max((step.afterSeconds * 1000) / speed, minimumStepSeconds * 1000);
    // Nothing is awaited before a step that follows at once: a poll could come in between.
    if (step.afterSeconds > 0) {
      await wait(imds, waitMs, () => isApproved(step), signal);
      if (!signal?.aborted) await beforeStep?.(step);
    }
    if (signal?.aborted) return { over: false, eventIds: [...eventIds.values()] };
    act(step);
  }
  return { over: true, eventIds: [...eventIds.values()] };
}

/** Puts the VMs of the scenario in place. @returns their names, by number. */
function cast(imds: ImdsSimulator, { vms: roles = [{}] }: Scenario, names?: readonly string[]): readonly string[] {
  const there = names ?? imds.vms.map(({ name }) => name);
  const all = [...there];
  for (let number = 0; all.length < roles.length; number += 1) {
    if (!all.includes(`web_${number}`)) all.push(`web_${number}`);
  }
  for (const [number, traits] of roles.entries()) {
    const name = all[number] ?? '';
    const known = imds.vms.find((vm) => vm.name === name);
    if (known === undefined || Object.keys(traits).length > 0) imds.addVm({ ...known, ...traits, name });
  }
  return all;
}

/** Until `ms` have passed, the document changed so that `ended` holds, or the signal aborts. */
function wait(imds: ImdsSimulator, ms: number, ended: () => boolean, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted || ended()) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      unwatch();
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    const unwatch = imds.watch(() => ended() && done());
    signal?.addEventListener('abort', done, { once: true });
  });
}
