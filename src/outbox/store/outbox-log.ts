import { createRateLimit, createStatusLogger } from '../../log.ts';
import type { OutboxOptions, Storage } from '../outbox.ts';
import type { StorageTrouble } from './errors.ts';
import type { Recovery } from './open.ts';
import type { Fill } from './retention.ts';

/** An outbox that was moved away. */
export interface Archived {
  readonly reason: string;
  /** Null where there was no file. */
  readonly movedTo: string | null;
  /** Records that a sink has yet to get, by its name; null where the file could not be read. */
  readonly pending: Readonly<Record<string, number>> | null;
}

/** What the outbox tells the operator. */
export interface OutboxLog {
  /** How it stands, news or not: to be told again and again, so that a trouble that lasts is said again and its end is said. */
  stands(trouble: Storage['trouble'], undurable: number): void;
  /** The same of tidying, which may fail while everything can be written. */
  tidied(trouble: StorageTrouble | null): void;
  /** Files were removed while they were open: once, however often it is tried to make them again. */
  removed(reason: string): void;
  /** They were made again. `stranger`: the folder of another outbox that stood there meanwhile. */
  rescued(stranger: string | null, pending: Readonly<Record<string, number>>): void;
  /** Other accounts could write in the directory, and cannot any more. */
  closed(): void;
  recovered(recovery: Recovery): void;
  archived(archived: Archived): void;
  expired(records: number): void;
  filled(fill: Fill): void;
}

const advice: Readonly<Record<StorageTrouble['kind'], string>> = {
  full: 'Free some space on that disk.',
  damaged: 'The file system may be damaged: look at the kernel’s log.',
  busy: 'Another program keeps the file locked: end it.',
  unavailable: 'Look at the rights of that directory, whether its disk is mounted read-only, and at the kernel’s log.',
};

/** Where the code says more than the kind. */
const adviceByCode: Readonly<Record<string, string>> = {
  EROFS:
    'Mount that disk writable, or name another stateDirectory; if it was writable before, look at the kernel’s log.',
  EACCES: 'Give the account of the bridge the right to write there, or name another stateDirectory.',
  EPERM: 'Give the account of the bridge the right to write there, or name another stateDirectory.',
  'shared-directory':
    'Make the account of the bridge its owner and take the right to write from all others, or name another stateDirectory.',
  ELOOP: 'Find out who made that link, and remove it.',
  ENOTDIR: 'Move that file away, or name another stateDirectory.',
  'in-use': 'It goes on by itself when that one has ended.',
  'earlier-outbox': 'Nothing is to be done about it.',
};

/** A kind of news that can come at any rate is said not more often than this. */
const everyMs = 10_000;

export function createOutboxLog({
  log,
  directory,
  clock,
}: Pick<OutboxOptions, 'log' | 'directory' | 'clock'>): OutboxLog {
  const limited = createRateLimit({ clock, everyMs });
  const storage = createStatusLogger({ clock });
  const tidying = createStatusLogger({ clock });
  const part = 'outbox';
  let [since, unsaidExpired] = ['', 0];

  const sayExpired = (): void => {
    if (unsaidExpired === 0) return;
    limited('expired', () => {
      log.error(
        { part, code: 'expired', records: unsaidExpired },
        `The outbox is full: ${unsaidExpired} records of ended events were discarded before every sink had them. Fix the sink that blocks it, or raise outbox.maxMegabytes.`,
      );
      unsaidExpired = 0;
    });
  };

  return {
    stands(trouble, undurable) {
      sayExpired();
      since = trouble?.since ?? since;
      const { code = null, kind = 'unavailable', reason = '' } = trouble ?? {};
      const fields = { part, ...trouble, undurable };
      const wanted = adviceByCode[code ?? ''] ?? advice[kind];
      const consequence = 'records are kept in memory and sent from there until it can';
      storage(code, {
        begins: () =>
          log.error(fields, `The outbox in ${directory} cannot be written (${reason}): ${consequence}. ${wanted}`),
        lasts: (seconds) =>
          log.error(
            { ...fields, seconds },
            `The outbox in ${directory} has not been written since ${since} (${reason}): ${undurable} records are only in memory and end with this process. ${wanted}`,
          ),
        over: (seconds) =>
          log.info(
            { part, code: 'mended', since, seconds },
            `The outbox in ${directory} is written again; it was not since ${since}.`,
          ),
      });
    },
    tidied(trouble) {
      const { code = null, reason = '' } = trouble ?? {};
      const fields = { part, ...trouble };
      tidying(code, {
        begins: () => log.warn(fields, `Tidying the outbox failed (${reason}); it is tried again every minute.`),
        lasts: (seconds) =>
          log.warn(
            { ...fields, seconds },
            `Tidying the outbox still fails, every minute for ${seconds} s (${reason}).`,
          ),
        over: (seconds) => log.info({ part, code: 'tidied', seconds }, 'The outbox could be tidied again.'),
      });
    },
    removed: (reason) =>
      limited('removed', (leftOut) =>
        log.error(
          { part, code: 'removed', reason, leftOut },
          `${reason} while the bridge is running: it is made again, with everything that is still known. Whatever removes files there must stop the bridge first.`,
        ),
      ),
    rescued: (stranger, pending) =>
      limited('rescued', (leftOut) => {
        const besides = stranger === null ? '' : ` Another outbox stood there; it is in ${stranger} now, unsent.`;
        log.warn(
          { part, code: 'rescued', pending, stranger, leftOut },
          `The outbox is in ${directory} again, and its stream goes on (undelivered: ${inWords(pending)}).${besides}`,
        );
      }),
    closed: () =>
      log.warn(
        { part, code: 'closed' },
        `Other accounts could write in ${directory}: that right was taken from them. Nobody but the bridge needs it.`,
      ),
    recovered(recovery) {
      const { reason, movedTo, salvaged } = recovery;
      const { events, records, lost } = salvaged;
      const saved = `${events} events and ${records} records were saved from it, ${lost} deliveries are known to be lost`;
      log.error(
        { part, code: 'recovered', reason, movedTo, ...salvaged },
        `The outbox could not be used: ${reason}. It is in ${movedTo} now, for whoever wants to look; ${saved}.`,
      );
    },
    archived({ reason, movedTo, pending }) {
      const held = pending === null ? 'how many records it holds unsent is not known' : `unsent: ${inWords(pending)}`;
      const where =
        movedTo === null ? 'There was no outbox to move away' : `The outbox is moved to ${movedTo} (${held})`;
      log.warn({ part, code: 'archived', reason, movedTo, pending }, `${where}, and a new stream begins: ${reason}`);
    },
    expired(records) {
      unsaidExpired += records;
      sayExpired();
    },
    filled({ bytes, limitBytes, isAlarming }) {
      const fields = { part, code: 'fill', bytes, limitBytes };
      const share = `${Math.round((100 * bytes) / limitBytes)} % of its bound`;
      if (!isAlarming) return log.info(fields, `The outbox is down to ${share}`);
      const consequence = 'when it is full, ended events are discarded, oldest first';
      log.warn(
        fields,
        `The outbox is at ${share}; ${consequence}. Fix the sink that blocks it, or raise outbox.maxMegabytes.`,
      );
    },
  };
}

/** `eventHubs 3, logAnalytics 0`. */
const inWords = (pending: Readonly<Record<string, number>>): string =>
  Object.entries(pending)
    .map(([sink, records]) => `${sink} ${records}`)
    .join(', ') || 'nothing';
