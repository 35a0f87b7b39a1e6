import type { Machine } from './machine.ts';
import type { ServiceManager, UnitState } from './system.ts';
import type { Words } from './words.ts';

/** One observation of the service. */
export interface ReadinessProbe {
  readonly atMs: number;
  readonly unit: UnitState;
}

/** `steady`: it reports that it is up and has stayed up; whether it can write its state is not proven yet. */
export type ProbeVerdict =
  | { readonly kind: 'starting' | 'steady' }
  | { readonly kind: 'not-ready'; readonly because: string };

export type Readiness =
  | { readonly ready: true }
  | { readonly ready: false; readonly because: string; readonly words: readonly string[] };

/** The longest start: before it, the old process may need its 30 s to stop. */
const timeoutMs = 90_000;
/** A process that cannot run ends at once. */
const steadyMs = 5_000;
const recheckMs = 1_000;
/** After this many automatic restarts it will not become ready. */
const mostRestarts = 3;

/** Another start brings the same; another bridge may go. */
const isFinal = (exitStatus: number, { endings }: EndingWords): boolean => exitStatus in endings && exitStatus !== 75;

type EndingWords = Pick<Words, 'manager' | 'endings'>;

/** The verdict of these observations; the first is the first after the start was requested. `before`: the start that is being replaced. */
export function verdictOf(probes: readonly ReadinessProbe[], before: string | null, words: EndingWords): ProbeVerdict {
  const first = probes[0];
  const last = probes.at(-1);
  if (!first || !last) return { kind: 'starting' };
  const notReady = (because: string): ProbeVerdict => ({ kind: 'not-ready', because });
  const isOver = last.atMs - first.atMs >= timeoutMs;
  const own = probes.filter(({ unit }) => unit.invocation !== null && unit.invocation !== before);
  const [began] = own;
  if (!began)
    return isOver ? notReady(`${words.manager} has not started it for ${timeoutMs / 1000} s`) : { kind: 'starting' };
  const restarts = new Set(own.map(({ unit }) => unit.invocation)).size - 1;
  // The service manager forgets it with the next start.
  const exitStatus = own.findLast(({ unit }) => unit.exitStatus !== 0)?.unit.exitStatus ?? 0;
  const ended = words.endings[exitStatus];
  if (isUp(last)) {
    const up = own.findLastIndex((probe) => !isUp(probe) || probe.unit.pid !== last.unit.pid);
    const since = own[up + 1]?.atMs ?? last.atMs;
    if (last.atMs - since >= steadyMs) return { kind: 'steady' };
    return isOver ? notReady(`it does not stay up${why(ended)}`) : { kind: 'starting' };
  }
  if (last.unit.active === 'failed') return notReady(`it failed (${last.unit.result})${why(ended)}`);
  if (isFinal(exitStatus, words) && last.unit.sub === 'auto-restart') return notReady(ended ?? '');
  if (Math.max(restarts, last.unit.restarts - began.unit.restarts) >= mostRestarts) {
    return notReady(`it ended again and again, last with exit code ${exitStatus}${why(ended)}`);
  }
  return isOver
    ? notReady(`it has not said for ${timeoutMs / 1000} s that it is up${why(ended)}`)
    : { kind: 'starting' };
}

const isUp = ({ unit }: ReadinessProbe): boolean =>
  unit.active === 'active' && unit.sub === 'running' && unit.pid !== null;

const why = (ended: string | undefined): string => (ended === undefined ? '' : `: ${ended}`);

/**
 * Waits until the service that was just started is up, stays up and has proven that its loop takes questions and its state can be
 * written. Azure's answers do not affect readiness: a metadata service that is slow or refuses, a destination that is down.
 */
export async function waitUntilReady(
  { clock, ping }: Pick<Machine, 'clock' | 'ping'>,
  { manager, words }: { readonly manager: Pick<ServiceManager, 'unit' | 'lastLogLines'>; readonly words: EndingWords },
  { before, stateDirectory }: { readonly before: string | null; readonly stateDirectory: string },
): Promise<Readiness> {
  const probes: ReadinessProbe[] = [];
  let unproven = '';
  for (;;) {
    const unit = await manager.unit();
    probes.push({ atMs: clock.monotonicMs(), unit });
    const verdict = verdictOf(probes, before, words);
    if (verdict.kind === 'steady') {
      const answer = await ping(stateDirectory);
      if (answer.ok) return { ready: true };
      unproven = answer.message;
    }
    const isOver = clock.monotonicMs() - (probes[0]?.atMs ?? 0) >= timeoutMs;
    if (verdict.kind === 'not-ready' || (verdict.kind === 'steady' && isOver)) {
      const because = verdict.kind === 'not-ready' ? verdict.because : unproven;
      return { ready: false, because, words: logLinesIn(await manager.lastLogLines(unit.invocation)) };
    }
    await clock.sleep(recheckMs);
  }
}

/** The messages of a log; those of the bridge are inside JSON lines. */
function logLinesIn(lines: readonly string[]): string[] {
  return lines.map((line) => {
    try {
      const { msg } = JSON.parse(line) as { readonly msg?: unknown };
      return typeof msg === 'string' ? msg : line;
    } catch {
      return line;
    }
  });
}
