import { createRateLimit, createStatusLogger } from '../../log.ts';
import { thisSystem } from '../../operating-system.ts';
import type { Fill, OutboxOptions, Recovery, Storage, StorageFault } from '../outbox.ts';

/** An outbox that was moved aside. */
export interface Archived {
  readonly reason: string;
  /** Null where there was no file. */
  readonly movedTo: string | null;
  /** Records that a sink has yet to get, by its name; null where the file could not be read. */
  readonly pending: Readonly<Record<string, number>> | null;
}

/** By its code, where that says more than its kind. */
const advice: Readonly<Record<StorageFault['kind'], string>> & Readonly<Record<string, string>> = {
  full: 'Free some space on that disk.',
  damaged: `The file system may be damaged: check ${thisSystem.diskLog}.`,
  busy: 'Another program keeps the file locked: end it.',
  unavailable: `Check the permissions of that directory, whether its disk is mounted read-only or a quota is used up, and ${thisSystem.diskLog}.`,
  EROFS: `Mount that disk writable, or name another stateDirectory; if it was writable before, check ${thisSystem.diskLog}.`,
  EACCES: 'Grant the account of the bridge write permission there, or name another stateDirectory.',
  EPERM: 'Grant the account of the bridge write permission there, or name another stateDirectory.',
  // What Windows answers where an open file is to be moved or removed.
  EBUSY: 'Another program has a file there open, such as a virus scanner or a backup: exclude that directory from it.',
  'shared-directory':
    'Make the account of the bridge its owner and remove write permission for all others, or name another stateDirectory.',
  'shared-file':
    'Make the account of the bridge its owner and remove write permission for all others, or move it away.',
  'foreign-file': 'Find out what created it, and move it away, or make the account of the bridge its owner.',
  ELOOP: 'Find out what created that link, and remove it.',
  ENOTDIR: 'Move that file away, or name another stateDirectory.',
  'in-use': 'It continues by itself when that one has ended.',
  'earlier-outbox': 'No action is needed.',
};

/** A message that can repeat at any rate is logged not more often than this. */
const everyMs = 10_000;

const part = 'outbox';

export type OutboxLog = ReturnType<typeof createOutboxLog>;

/** The messages of the outbox to the operator. */
export function createOutboxLog({ log, directory, clock }: Pick<OutboxOptions, 'log' | 'directory' | 'clock'>) {
  const limited = createRateLimit({ clock, everyMs });
  const storageStatus = createStatusLogger({ clock });
  const maintenanceStatus = createStatusLogger({ clock });
  let [since, unreportedExpired] = ['', 0];

  const reportExpired = (): void => {
    const records = unreportedExpired;
    if (records === 0) return;
    limited('expired', () => {
      log.error(
        { part, code: 'expired', records },
        `The outbox is full: ${records} records of ended events were discarded before every sink had them. Fix the sink that blocks it, or raise outbox.maxMegabytes.`,
      );
      unreportedExpired = 0;
    });
  };

  return {
    /** To be called repeatedly, so that a lasting problem is logged again, and its end. */
    storage(fault: Storage['fault'], undurable: number): void {
      reportExpired();
      since = fault?.since ?? since;
      const { code = null, kind = 'unavailable', reason = '' } = fault ?? {};
      const fields = { part, ...fault, undurable };
      const remedy = advice[code ?? kind] ?? advice[kind];
      storageStatus(code, {
        begins: () =>
          log.error(
            fields,
            `The outbox in ${directory} cannot be written (${reason}): records are kept in memory and sent from there until it can. ${remedy}`,
          ),
        lasts: (seconds) =>
          log.error(
            { ...fields, seconds },
            `The outbox in ${directory} has not been written since ${since} (${reason}): ${undurable} records are only in memory and are lost when this process ends. ${remedy}`,
          ),
        over: (seconds) =>
          log.info(
            { part, code: 'writable', since, seconds },
            `The outbox in ${directory} is being written again; it was not since ${since}.`,
          ),
      });
    },
    /** The same of maintenance, which may fail while everything can be written. */
    maintenance(fault: StorageFault | null): void {
      const { code = null, reason = '' } = fault ?? {};
      const fields = { part, ...fault };
      maintenanceStatus(code, {
        begins: () => log.warn(fields, `Pruning the outbox failed (${reason}); retrying every minute.`),
        lasts: (seconds) =>
          log.warn({ ...fields, seconds }, `Pruning the outbox has been failing for ${seconds} s (${reason}).`),
        over: (seconds) => log.info({ part, code: 'maintained', seconds }, 'Pruning the outbox succeeds again.'),
      });
    },
    /** Files were removed while they were open: once, however often it is tried to recreate them. */
    removed(reason: string): void {
      limited('removed', (leftOut) =>
        log.error(
          { part, code: 'removed', reason, leftOut },
          `${reason} while the bridge is running: it is recreated, with everything that is still known. Stop the bridge before files are removed there.`,
        ),
      );
    },
    /** They were recreated. `other`: the folder of another outbox that was found there. */
    recreated(other: string | null, pending: Readonly<Record<string, number>>): void {
      limited('recreated', (leftOut) => {
        const besides = other === null ? '' : ` Another outbox was there; it was moved to ${other}, unsent.`;
        log.warn(
          { part, code: 'recreated', pending, other, leftOut },
          `The outbox is in ${directory} again, and its stream continues (undelivered: ${describeCounts(pending)}).${besides}`,
        );
      });
    },
    /** Other accounts could write in the directory or in these files of it, and cannot any more. */
    secured(closed: readonly string[]): void {
      log.warn(
        { part, code: 'secured' },
        `Other accounts could write in ${closed.join(', ')}: that permission was removed. Only the bridge needs it.`,
      );
    },
    recovered({ reason, movedTo, salvaged }: Recovery): void {
      const { events, records, lost } = salvaged;
      const saved = `${events} events and ${records} records were saved from it, ${lost} deliveries are known to be lost`;
      log.error(
        { part, code: 'recovered', reason, movedTo, ...salvaged },
        `The outbox could not be used: ${reason}. It was moved to ${movedTo}, for investigation; ${saved}.`,
      );
    },
    archived({ reason, movedTo, pending }: Archived): void {
      const held = pending === null ? 'the number of unsent records is unknown' : `unsent: ${describeCounts(pending)}`;
      const where =
        movedTo === null ? 'There was no outbox to move away' : `The outbox is moved to ${movedTo} (${held})`;
      log.warn({ part, code: 'archived', reason, movedTo, pending }, `${where}, and a new stream begins: ${reason}`);
    },
    expired(records: number): void {
      unreportedExpired += records;
      reportExpired();
    },
    fill({ bytes, limitBytes, isAlarming }: Fill): void {
      const fields = { part, code: 'fill', bytes, limitBytes };
      const share = `${Math.round((100 * bytes) / limitBytes)} % of its bound`;
      if (!isAlarming) log.info(fields, `The outbox is down to ${share}`);
      else
        log.warn(
          fields,
          `The outbox is at ${share}; when it is full, ended events are discarded, oldest first. Fix the sink that blocks it, or raise outbox.maxMegabytes.`,
        );
    },
  };
}

/** `eventHubs 3, logAnalytics 0`. */
const describeCounts = (pending: Readonly<Record<string, number>>): string =>
  Object.entries(pending)
    .map(([sink, records]) => `${sink} ${records}`)
    .join(', ') || 'nothing';
