import type { ImdsSimulator } from './imds/server.ts';
import type { Scenario, Step } from './scenarios.ts';

export interface PlayOptions {
  /** How many times faster than real. Default 1. Notices shrink with it. */
  readonly speed?: number;
  /** However fast it is played, a step that waits waits at least so long: polls come once a second. Default 0. */
  readonly minimumStepSeconds?: number;
  /** The VMs that are hit. Default: the first. */
  readonly resources?: readonly string[];
  /** Ends the play where it is; what is listed then stays listed. */
  readonly signal?: AbortSignal;
}

/** What was played. */
export interface Play {
  /** False: it was aborted. */
  readonly over: boolean;
  readonly eventIds: readonly string[];
}

/** Plays a scenario on the metadata service; resolves when it is over or aborted, and rejects only on a faulty scenario. */
export async function playScenario(imds: ImdsSimulator, scenario: Scenario, options: PlayOptions = {}): Promise<Play> {
  const { speed = 1, minimumStepSeconds = 0, signal } = options;
  const resources = options.resources ?? imds.vms.slice(0, 1).map(({ name }) => name);
  const eventIds = new Map<string, string>();

  const idOf = (label: string): string => {
    const eventId = eventIds.get(label);
    if (eventId === undefined) throw new Error(`scenario ${scenario.name} names ${label} before it schedules it`);
    return eventId;
  };
  const isApproved = (step: Step): boolean =>
    step.do === 'start' && imds.find(idOf(step.event))?.EventStatus === 'Started';
  const notBefore = (noticeSeconds: number): Date => new Date(Date.now() + (noticeSeconds * 1000) / speed);

  const act = (step: Step): void => {
    if (step.do === 'start') imds.start(idOf(step.event));
    else if (step.do === 'remove') imds.remove(idOf(step.event));
    else if (step.do === 'reschedule') imds.update(idOf(step.event), { notBefore: notBefore(step.noticeSeconds) });
    else {
      const { event, noticeSeconds, do: _, afterSeconds: __, ...told } = step;
      const when = noticeSeconds === null ? ({ status: 'Started' } as const) : { notBefore: notBefore(noticeSeconds) };
      eventIds.set(event, imds.schedule({ ...told, ...when, resources }));
    }
  };

  for (const step of scenario.steps) {
    const waitMs = Math.max((step.afterSeconds * 1000) / speed, minimumStepSeconds * 1000);
    // Nothing is awaited before a step that follows at once: a poll could come in between.
    if (step.afterSeconds > 0) await wait(imds, waitMs, () => isApproved(step), signal);
    if (signal?.aborted) return { over: false, eventIds: [...eventIds.values()] };
    act(step);
  }
  return { over: true, eventIds: [...eventIds.values()] };
}

/** Until `ms` are over, the document changed so that `ended` holds, or the signal. */
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
