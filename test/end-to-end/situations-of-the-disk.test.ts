import { appendFileSync, existsSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { AzureSimulator } from '../../src/azure-simulator/index.ts';
import { mountSmallDisk, type SmallDisk, whyNoMount } from '../outbox/small-disk.ts';
import { playInTurn, type Situation, well } from '../support/situation.ts';
import { openStage, quickImds, type Stage, seesDocuments } from '../support/stage.ts';
import { until } from '../support/until.ts';

const minutes = (n: number): Date => new Date(Date.now() + n * 60_000);
const announce = (azure: AzureSimulator, description = 'Moved.') =>
  azure.imds.schedule({ eventType: 'Freeze', resources: ['web_0'], notBefore: minutes(30), description });
const isIdle = (stage: Stage) =>
  stage.untilStatus('no event, everything delivered and on disk', ({ events, sinks, service }) => {
    const isStored = service?.inMemoryOnly === 0 && service.storageTrouble === null;
    return isStored && events.length === 0 && sinks.every(({ waiting }) => waiting === 0);
  });
const endAll = ({ imds }: AzureSimulator): void => {
  for (const { EventId } of imds.document.Events) imds.remove(EventId);
};
/** Takes what is free, and leaves what is taken: the bridge writes meanwhile, and would make its reserve again. */
function fillUp({ path }: SmallDisk): void {
  const { bavail, bsize } = statfsSync(path);
  try {
    appendFileSync(join(path, 'filler'), Buffer.alloc(bavail * bsize));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
const stop = async (stage: Stage): Promise<void> => {
  stage.bridge.kill('SIGTERM');
  await stage.bridge.exited;
};

const unwritable = (disk: () => SmallDisk): readonly Situation[] => [
  {
    name: 'the disk is large enough',
    make: async (stage) => {
      await stage.start();
      await seesDocuments(stage);
      await isIdle(stage);
      // An event that is absent while Azure may still be enabling the feature ends after five minutes only.
      const { firstTimeoutSeconds } = quickImds;
      await stage.untilStatus('the first seconds are over', ({ service }) => {
        return (service?.poll.upSeconds ?? 0) > firstTimeoutSeconds + 2;
      });
    },
    ...well,
  },
  {
    name: 'the disk is full, and an event has appeared and ended',
    make: async (stage) => {
      announce(stage.azure);
      await stage.untilStatus('the event', ({ events }) => events.length === 1);
      endAll(stage.azure);
      // It has a reserve for this: the disk is full again when that is used up.
      await until(
        async () => {
          fillUp(disk());
          endAll(stage.azure);
          for (let n = 0; n < 20; n += 1) announce(stage.azure, 'x'.repeat(4_000));
          return (await stage.status()).service?.storageTrouble;
        },
        { everyMs: 1_500, timeoutMs: 60_000, what: 'a full disk' },
      );
      endAll(stage.azure);
      await stage.untilStatus('records in memory', ({ service, events }) => {
        return (service?.inMemoryOnly ?? 0) > 1 && events.length === 0;
      });
    },
    message:
      /^\d+ records are in memory only since \d\d:\d\d UTC: do not restart the service, that would lose them\. The disk of .* is full .*free some space/,
    page: /^Events +none open/m,
    status: 20,
    check: 14,
    checkPrints: /PROBLEM +memory .*do not restart the service/,
    ready: 503,
    health: 'unready',
  },
  {
    name: 'there is room again',
    make: async (stage) => {
      disk().empty();
      await isIdle(stage);
    },
    ...well,
  },
  {
    name: 'the disk was read-only before the start, and an event was announced since',
    make: async (stage) => {
      await stop(stage);
      disk().mount('ro');
      await stage.start();
      await seesDocuments(stage);
      announce(stage.azure);
      await stage.untilStatus('a record in memory', ({ service }) => service?.inMemoryOnly === 1);
    },
    message:
      /^1 record is in memory only since \d\d:\d\d UTC: do not restart the service, that would lose it\. The disk of .* is mounted read-only: mount it writable/,
    page: /^Service +running for \d+ (s|min)/m,
    status: 20,
    check: 14,
    ready: 503,
    health: 'unready',
  },
  {
    name: 'it is writable again',
    make: async (stage) => {
      disk().mount('rw');
      endAll(stage.azure);
      await isIdle(stage);
    },
    ...well,
  },
];

const damaged = (): readonly Situation[] => [
  {
    name: 'the outbox is damaged, and no service runs',
    make: async (stage) => {
      await stage.start();
      await isIdle(stage);
      await stop(stage);
      for (const file of ['outbox.sqlite-wal', 'outbox.sqlite-shm'])
        rmSync(join(stage.directory, file), { force: true });
      writeFileSync(join(stage.directory, 'outbox.sqlite'), 'no database '.repeat(1_000));
    },
    message: /^The outbox in .* is damaged \(.*\): start or restart the bridge/,
    status: 21,
    check: 14,
    checkPrints: /PROBLEM +outbox .*is damaged/,
    ready: null,
  },
  {
    name: 'a service has replaced it',
    make: async (stage) => {
      await stage.start();
      await seesDocuments(stage);
    },
    message: /^Running; both destinations are up to date\.$/,
    page: /A damaged outbox was replaced \d\d:\d\d UTC: .*; it is kept in .*corrupt-/,
    status: 0,
    check: 0,
    checkPrints: /WARNING +outbox .*corrupt-/,
    ready: /^ready\n$/,
  },
  {
    name: 'the service recreated files that were removed',
    make: async (stage) => {
      for (const file of ['outbox.sqlite', 'outbox.sqlite-wal', 'outbox.sqlite-shm'])
        rmSync(join(stage.directory, file), { force: true });
      // The service looks once a second whether its files are still there.
      await until(() => existsSync(join(stage.directory, 'outbox.sqlite')), { what: 'files again' });
      await stage.untilStatus('no storage fault', ({ service }) => service?.storageTrouble === null);
      expect((await stage.status()).answer).toBe('answered');
    },
    message: /^Running; both destinations are up to date\.$/,
    status: 0,
    check: 0,
    ready: /^ready\n$/,
  },
];

const whyNot = whyNoMount();
describe.skipIf(whyNot !== null)(`status and check of the disk${whyNot ? ` (skipped: ${whyNot})` : ''}`, () => {
  const onSmallDisk = (name: string, situations: (disk: () => SmallDisk) => readonly Situation[]): void => {
    let disk: SmallDisk;
    playInTurn(
      name,
      situations(() => disk),
      {
        open: (azure) => {
          disk = mountSmallDisk(400);
          return openStage(azure, { directory: join(disk.path, 'state'), more: { outbox: { maxMegabytes: 16 } } });
        },
        close: () => disk[Symbol.dispose](),
      },
    );
  };
  onSmallDisk('that has no room, or cannot be written', unwritable);
  onSmallDisk('on which the outbox is not what it was', damaged);
});
