import { accessSync, constants, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const memory = '/dev/shm';
/** A container often has 64 MB there. */
const enoughBytes = 2 * 2 ** 30;

function isUsable(): boolean {
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= enoughBytes;
  } catch {
    return false;
  }
}

/** In memory, since most of the time of a small commit is the flush to the disk; on the disk with `TEST_RUNS=full`. */
const parent = process.env.TEST_RUNS !== 'full' && isUsable() ? memory : tmpdir();

/** Creates a directory for an outbox. The test removes it. */
export const createStateDirectory = (name: string): string => mkdtempSync(join(parent, `${name}-`));
