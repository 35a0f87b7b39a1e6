import { json } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { BlockBlobClient } from '@azure/storage-blob';

/** A JSON value in a blob. Null: there is no blob. */
export async function readBlob<T>(
  blob: BlockBlobClient,
): Promise<{ readonly value: T | null; readonly etag?: string }> {
  try {
    const { etag, readableStreamBody } = await blob.download();
    if (etag === undefined || readableStreamBody === undefined) throw new Error(`${blob.name}: no content`);
    return { value: (await json(readableStreamBody)) as T, etag };
  } catch (error) {
    if (codeOf(error) === 'BlobNotFound') return { value: null };
    throw error;
  }
}

/**
 * Changes a blob that several processes change: by the ETag a change of another one in between is noticed, and ours is made again on
 * top of it.
 * @param change gets the current value, and returns the new one, or null where the blob can stay. Must be idempotent: the client repeats
 *   an upload whose response was lost.
 * @returns the value in the blob.
 */
export async function updateBlob<T>(blob: BlockBlobClient, change: (value: T | null) => T | null): Promise<T | null> {
  for (;;) {
    const { value, etag } = await readBlob<T>(blob);
    const changed = change(value);
    if (changed === null) return value;
    try {
      await writeBlob(blob, changed, etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: etag });
      return changed;
    } catch (error) {
      if (!['ConditionNotMet', 'BlobAlreadyExists'].includes(codeOf(error))) throw error;
    }
  }
}

/** Azure's minimum, after which the lease of a process that died is free. */
const leaseSeconds = 15;

/**
 * Runs `work` while no other process runs any for the same blob, which has to exist. Waits for its turn.
 * @param work gets a function that replaces the value, and throws if the lease was lost meanwhile.
 */
export async function withLease<T>(
  blob: BlockBlobClient,
  work: (save: (value: T) => Promise<void>) => Promise<void>,
): Promise<void> {
  const lease = blob.getBlobLeaseClient();
  while (!(await acquired(() => lease.acquireLease(leaseSeconds)))) await pause(500);
  // A renewal that fails is no error: the next save is refused once the lease is lost.
  const renewal = setInterval(() => lease.renewLease().catch(() => {}), (leaseSeconds * 1000) / 3);
  try {
    await work((value) => writeBlob(blob, value, { leaseId: lease.leaseId }));
  } finally {
    clearInterval(renewal);
    await lease.releaseLease().catch(() => {});
  }
}

async function acquired(acquire: () => Promise<unknown>): Promise<boolean> {
  try {
    await acquire();
    return true;
  } catch (error) {
    if (codeOf(error) === 'LeaseAlreadyPresent') return false;
    throw error;
  }
}

async function writeBlob(
  blob: BlockBlobClient,
  value: unknown,
  conditions: { ifMatch?: string; ifNoneMatch?: string; leaseId?: string },
): Promise<void> {
  const text = JSON.stringify(value);
  const blobHTTPHeaders = { blobContentType: 'application/json' };
  await blob.upload(text, Buffer.byteLength(text), { conditions, blobHTTPHeaders });
}

/** https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes */
const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
