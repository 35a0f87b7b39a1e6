import { createRateLimit } from '../log.ts';
import type { StorageTrouble } from './errors.ts';
import type { Recovery } from './open.ts';
import type { OutboxOptions } from './outbox.ts';
import type { Fill } from './retention.ts';

/** What the outbox tells the operator: each of these when it happens, one kind not more often than every 10 s. */
export interface Narrator {
  troubled(trouble: StorageTrouble): void;
  mended(since: string): void;
  recovered(recovery: Recovery): void;
  archived(reason: string): void;
  expired(records: number): void;
  filled(fill: Fill): void;
  untidy(trouble: StorageTrouble): void;
}

const advice: Readonly<Record<StorageTrouble['kind'], string>> = {
  full: 'Free some space on that disk.',
  damaged: 'The file system may be damaged: look at the kernel’s log.',
  busy: 'Another program keeps the file locked: end it.',
  unavailable: 'Look at the rights of that directory, whether its disk is mounted read-only, and at the kernel’s log.',
};

/** A disk that fails and recovers every second would fill itself with what is said about it. */
const everyMs = 10_000;

export function createNarrator({
  log,
  directory,
  clock,
}: Pick<OutboxOptions, 'log' | 'directory' | 'clock'>): Narrator {
  const limited = createRateLimit({ clock, everyMs });
  const part = 'outbox';
  return {
    troubled(trouble) {
      const consequence = 'records are kept in memory and sent from there until it can';
      const message = `The outbox in ${directory} cannot be written (${trouble.reason}): ${consequence}. ${advice[trouble.kind]}`;
      limited(trouble.code, (leftOut) => log.error({ part, ...trouble, leftOut }, message));
    },
    mended: (since) =>
      limited('mended', (leftOut) =>
        log.info({ part, code: 'mended', since, leftOut }, `The outbox is written again; it was not since ${since}`),
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
    archived: (reason) =>
      log.warn(
        { part, code: 'archived', reason },
        `The outbox is moved away unsent, and a new stream begins: ${reason}`,
      ),
    expired: (records) =>
      limited('expired', (leftOut) =>
        log.error(
          { part, code: 'expired', records, leftOut },
          `The outbox is full: ${records} records of ended events were given up before every sink had them. Mend the sink that holds it up, or raise outbox.maxMegabytes.`,
        ),
      ),
    filled({ bytes, limitBytes, isAlarming }) {
      const fields = { part, code: 'fill', bytes, limitBytes };
      const share = `${Math.round((100 * bytes) / limitBytes)} % of its bound`;
      if (!isAlarming) return log.info(fields, `The outbox is down to ${share}`);
      const consequence = 'when it is full, ended events are given up, oldest first';
      log.warn(
        fields,
        `The outbox is at ${share}; ${consequence}. Mend the sink that holds it up, or raise outbox.maxMegabytes.`,
      );
    },
    untidy: (trouble) =>
      log.warn({ part, ...trouble }, `Tidying the outbox failed (${trouble.reason}); it is tried again in a minute.`),
  };
}
