import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { OutboxTooNew, troubleOf } from '../../outbox/errors.ts';
import { layoutOf } from '../../outbox/layout.ts';
import { noOutboxOfService } from '../outbox/read.ts';
import { type Finding, finding, notProven, ok, problem, warning } from './finding.ts';
import type { Ground } from './ground.ts';
import { type StateSeen, seeState } from './see-state.ts';

/** A document is stored at least once a minute: three missing ones are no accident. */
const silentMs = 3 * 60_000;

/** One that has just been started has its first document by then. */
const startMs = 3_000;

export async function checkState(ground: Ground): Promise<readonly Finding[]> {
  const { clock, config, offline, signal } = ground;
  const [directory, now, seen] = [config.stateDirectory, clock.now(), ground.state()];
  if (offline || !isSilent(seen, now)) return stateFindings(seen, { directory, now, isAnswered: null });
  const isAnswered = (await ground.document()).kind !== 'unavailable';
  await clock.sleep(startMs, signal);
  return stateFindings(seeState(directory), { directory, now: clock.now(), isAnswered });
}

export interface StateGround {
  readonly directory: string;
  readonly now: Date;
  /** Whether this check gets documents of the metadata service, where the service has none; null: not asked. */
  readonly isAnswered: boolean | null;
}

function isSilent({ running, report }: StateSeen, now: Date): boolean {
  const lastAt = report?.lastDocumentAt ?? report?.createdAt ?? null;
  return running === true && lastAt !== null && now.getTime() - Date.parse(lastAt) > silentMs;
}

export const stateFindings = (seen: StateSeen, on: StateGround): readonly Finding[] => [
  service(seen, on),
  outbox(seen, on),
];

function service(seen: StateSeen, { directory, now, isAnswered }: StateGround): Finding {
  const { running, report, error } = seen;
  const what = 'state.service';
  if (running === null) return notProven(what, `Whether a service holds ${directory} cannot be seen by this account.`);
  const lastAt = report?.lastDocumentAt ?? null;
  const unseen = report === null ? 'tells nothing of itself' : 'has seen no document yet';
  const last = lastAt === null ? unseen : `saw its last document at ${lastAt}`;
  if (!running) {
    if (report === null && error === null) return ok(what, `No service has run with ${directory} yet.`);
    return warning(
      what,
      `No service runs with ${directory}; the last one ${last}. Start it, unless that is meant.`,
      'sudo systemctl start scheduled-events-bridge',
    );
  }
  const says = `A service runs with ${directory} and ${last}; a second one would be refused (exit code 75).`;
  if (!isSilent(seen, now)) return ok(what, says);
  if (!isAnswered) return warning(what, `${says} That is long ago: see imds.document.`);
  const hangs = `A service runs with ${directory}, but ${last}, although the metadata service answers: it hangs, or what it sees cannot be stored (see disk). Look at its log, and start it again.`;
  return { ...problem(what, hangs, 'sudo systemctl restart scheduled-events-bridge'), exit: 'needsPerson' };
}

function outbox({ report, error, running }: StateSeen, { directory }: StateGround): Finding {
  const what = 'state.outbox';
  const { outbox: path } = layoutOf(directory);
  if (error instanceof OutboxTooNew) return { ...finding(what, 'problem', error.message), exit: 'newerOutbox' };
  if (error !== null) return unreadable(error, path, running);
  if (report === null && running) return problem(what, noOutboxOfService(directory));
  if (report === null) return ok(what, `There is no outbox yet: the service makes ${path} at its first start.`);
  const { position, bytes, recovery } = report;
  const says = `${path} is sound: ${position === 1 ? '1 record' : `${position} records`} in its stream, ${(bytes / 2 ** 20).toFixed(1)} MB on disk.`;
  if (recovery === null) return ok(what, says);
  return warning(
    what,
    `${says} The one before was of no use since ${recovery.at} (${recovery.reason}) and lies in ${recovery.movedTo}; that folder can be removed when nobody needs it.`,
  );
}

function unreadable(error: unknown, path: string, running: boolean | null): Finding {
  const what = 'state.outbox';
  const { kind, reason } = troubleOf(error);
  const isDenied = !isReadable(path);
  if (isDenied) return notProven(what, `${path} may not be read by this account: run check as the owner, or as root.`);
  if (kind === 'busy') return notProven(what, `${path} is being written at this moment: run check again.`);
  if (kind === 'full') return problem(what, `${path} cannot be read, since the disk is full (${reason}).`);
  const heals =
    'moves it into a folder corrupt-<time> beside it, saves every row that can be read, and goes on in a new stream where it must';
  return problem(
    what,
    `${path} is damaged (${reason}). The service mends that by itself: at its start it ${heals}.`,
    `sudo systemctl ${running ? 'restart' : 'start'} scheduled-events-bridge`,
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
