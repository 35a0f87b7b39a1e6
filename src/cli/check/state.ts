import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { finding, notProven, ok, problem, warning } from '../../check/finding.ts';
import { formatDuration } from '../../clock.ts';
import { pollRemark } from '../../health/poll-condition.ts';
import { senderProblem } from '../../health/sender-condition.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import { faultOf, OutboxTooNew } from '../../outbox/store/errors.ts';
import { layoutOf } from '../../outbox/store/layout.ts';
import { Failure } from '../exit-codes.ts';
import { noOutboxOfService } from '../outbox/read.ts';
import type { ServiceFacts } from '../status/facts.ts';
import type { Status } from '../status/status.ts';
import { notResponding } from '../status/verdict.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';
import type { StateSeen } from './see-state.ts';

export async function checkState(context: CheckContext): Promise<readonly Finding[]> {
  const status = await context.status();
  const isBlind = !(status instanceof Failure) && status.service !== null && isProblem(status.service.poll);
  // Polled only when the service gets no document, to find out which side is at fault.
  const isAnswered = isBlind && !context.offline ? (await context.document()).kind !== 'unavailable' : null;
  return stateFindings(context.state(), {
    directory: context.config.stateDirectory,
    status,
    isAnswered,
    system: context.system,
  });
}

export interface StateContext {
  readonly directory: string;
  readonly status: Status | Failure;
  /** Whether this check gets documents of the metadata service, where the service has none; null: not asked. */
  readonly isAnswered: boolean | null;
  readonly system: OperatingSystem;
}

const isProblem = (poll: ServiceFacts['poll']): boolean => pollRemark(poll)?.isProblem === true;

export const stateFindings = (seen: StateSeen, on: StateContext): readonly Finding[] => [
  service(seen, on),
  ...memory(on),
  outbox(seen, on),
];

function service(seen: StateSeen, { directory, status, isAnswered, system }: StateContext): Finding {
  const what = 'state.service';
  const { startService: start, restartService: restart } = system;
  if (status instanceof Failure) {
    if (status.reason === 'actionRequired')
      return { ...problem(what, status.message, restart), exit: 'actionRequired' };
    if (seen.running === null) return notProven(what, `This user may not see whether a service holds ${directory}.`);
    if (seen.running)
      return warning(what, `A service holds ${directory} and does not answer status requests.`, restart);
    if (seen.report === null && seen.error === null) return ok(what, `No service has run with ${directory} yet.`);
    return warning(what, `No service runs with ${directory}.`, start);
  }
  const { running, answer, service: facts, document } = status;
  if (running === false) {
    const last =
      document.lastSeenAt === null ? 'had seen no document' : `stored its last document at ${document.lastSeenAt}`;
    return warning(
      what,
      `No service runs with ${directory}; the last one ${last}. Start it, unless it was stopped on purpose.`,
      start,
    );
  }
  if (answer === 'silent') {
    const lastSeen = document.lastSeenAt === null ? '' : ` The last document on disk is of ${document.lastSeenAt}.`;
    return {
      ...problem(what, notResponding({ stateDirectory: directory, lastSeen }, system), restart),
      exit: 'actionRequired',
    };
  }
  if (facts === null) {
    const denied = answer === 'denied' || running === null;
    return denied
      ? notProven(
          what,
          `This user may not query the service with ${directory}: run check as its user or as ${system.administrator}.`,
        )
      : warning(
          what,
          `A service holds ${directory} and does not answer status requests: it is starting, or is an older version.`,
        );
  }
  return polling(facts, { directory, isAnswered, system });
}

function polling(
  { pid, version, poll, stuck, senders }: ServiceFacts,
  { directory, isAnswered, system }: Omit<StateContext, 'status'>,
): Finding {
  const what = 'state.service';
  const restart = system.restartService;
  const runs = `A service runs with ${directory} (pid ${pid}, version ${version})`;
  const [first] = stuck;
  if (first !== undefined) return { ...problem(what, `${runs}. ${first}`, restart), exit: 'actionRequired' };
  const remark = pollRemark(poll);
  const [failing] = senders.flatMap((sender) => senderProblem(sender, system) ?? []);
  if (failing !== undefined && !remark?.isProblem) {
    return { ...problem(what, `${runs}. ${failing}`, system.showServiceLog), exit: 'actionRequired' };
  }
  if (remark === null) {
    const age = formatDuration(poll.documentAgeSeconds ?? 0);
    return ok(what, `${runs}; its last document is ${age} old. Starting a second one fails (exit code 75).`);
  }
  if (!remark.isProblem) return warning(what, `${runs}; ${remark.message}.`);
  if (!isAnswered) return warning(what, `${runs}. ${remark.message} See imds.document.`);
  const message = `${runs}. ${remark.message} The metadata service answers this check, so the service is at fault: read its log, and restart it.`;
  return { ...problem(what, message, restart), exit: 'actionRequired' };
}

/** Only the running process knows. */
function memory({ directory, status, system }: StateContext): readonly Finding[] {
  const what = 'state.memory';
  if (status instanceof Failure || status.service === null) return [];
  const { inMemoryOnly: count, storageTrouble } = status.service;
  if (count === 0 && storageTrouble === null) return [ok(what, 'No record is in memory only.')];
  const held = count === 0 ? '' : ` ${count} in memory only: do not restart the service, that would lose them.`;
  const why =
    storageTrouble === null
      ? 'Records are being written again.'
      : `Nothing could be written in ${directory} since ${storageTrouble.since}: ${storageTrouble.reason}.`;
  return [problem(what, `${why}${held}`, system.showFreeSpace(directory))];
}

function outbox({ report, error, running }: StateSeen, { directory, system }: StateContext): Finding {
  const what = 'state.outbox';
  const { outbox: path } = layoutOf(directory);
  if (error instanceof OutboxTooNew) return { ...finding(what, 'problem', error.message), exit: 'newerOutbox' };
  if (error !== null) return unreadable(error, { path, running, system });
  if (report === null && running) return problem(what, noOutboxOfService(directory));
  if (report === null) return ok(what, `${path} does not exist yet; the service creates it at its first start.`);
  const { position, bytes, recovery } = report;
  const message = `${path} is intact: ${position === 1 ? '1 record' : `${position} records`} in its stream, ${(bytes / 2 ** 20).toFixed(1)} MB on disk.`;
  if (recovery === null) return ok(what, message);
  return warning(
    what,
    `${message} The one before was unusable at ${recovery.at} (${recovery.reason}) and is in ${recovery.movedTo}; remove that folder when it is no longer needed.`,
  );
}

function unreadable(
  error: unknown,
  {
    path,
    running,
    system,
  }: { readonly path: string; readonly running: boolean | null; readonly system: OperatingSystem },
): Finding {
  const what = 'state.outbox';
  const { kind, reason } = faultOf(error);
  const isDenied = !isReadable(path);
  if (isDenied)
    return notProven(
      what,
      `${path} may not be read by this account: run check as the owner, or as ${system.administrator}.`,
    );
  if (kind === 'busy') return notProven(what, `${path} is being written at this moment: run check again.`);
  if (kind === 'full') return problem(what, `${path} cannot be read, since the disk is full (${reason}).`);
  const heals =
    'moves it into a folder corrupt-<time> beside it, salvages every readable row, and starts a new stream if necessary';
  return problem(
    what,
    `${path} is damaged (${reason}). The service repairs it: at its start it ${heals}.`,
    running ? system.restartService : system.startService,
  );
}

function isReadable(path: string): boolean {
  try {
    statSync(path);
    new DatabaseSync(path, { readOnly: true }).close();
    return true;
  } catch {
    return false;
  }
}
