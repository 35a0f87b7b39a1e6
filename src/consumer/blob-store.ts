import { hostname } from 'node:os';
import { StateConflictError, type StateStore } from './state-store.ts';

/** The members used of a `BlockBlobClient` of `@azure/storage-blob`. */
export interface BlobClient {
  readonly url: string;
  download(): Promise<BlobProperties & { readonly readableStreamBody?: AsyncIterable<string | Uint8Array> }>;
  getProperties(): Promise<BlobProperties>;
  upload(
    body: string,
    contentLength: number,
    options: {
      conditions: { ifMatch?: string; ifNoneMatch?: string };
      metadata: Record<string, string>;
      blobHTTPHeaders: { blobContentType: string };
    },
  ): Promise<{ readonly etag?: string }>;
}

interface BlobProperties {
  readonly etag?: string;
  readonly lastModified?: Date;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Keeps the state in a blob, for a process without a disk of its own. The container has to exist; the identity needs the role *Storage
 * Blob Data Contributor* on it.
 *
 * A blob belongs to one process at a time. When two are started with the same one, the first to save continues; in the other, saving
 * fails with a `StateConflictError` before it acts. A process that starts later takes over.
 *
 * @example
 * const container = new ContainerClient('https://account.blob.core.windows.net/subscribers', new DefaultAzureCredential());
 * const actions = await actOnce(blobStore(container.getBlockBlobClient('state.json')), { drain, restore, onError });
 */
export function blobStore(blob: BlobClient): StateStore {
  const writer = `${hostname()} process ${process.pid} ${crypto.randomUUID()}`;
  /** The version that was read or written last; null: there was no blob. Azure changes it with every write. */
  let etag: string | null = null;
  return {
    async load() {
      try {
        const found = await blob.download();
        const chunks: Uint8Array[] = [];
        for await (const chunk of found.readableStreamBody ?? []) chunks.push(Buffer.from(chunk));
        etag = found.etag ?? null;
        return Buffer.concat(chunks).toString('utf8');
      } catch (error) {
        if (!hasCode(error, 'BlobNotFound')) throw error;
        etag = null;
        return null;
      }
    },
    async save(state) {
      for (;;) {
        try {
          const written = await blob.upload(state, Buffer.byteLength(state), {
            conditions: etag === null ? { ifNoneMatch: '*' } : { ifMatch: etag },
            metadata: { writer },
            blobHTTPHeaders: { blobContentType: 'application/json' },
          });
          etag = written.etag ?? null;
          return;
        } catch (error) {
          if (!hasCode(error, 'ConditionNotMet', 'BlobAlreadyExists')) throw error;
          const found = await current(blob);
          // The client repeats an upload whose response was lost: then the blob is the one that it wrote itself.
          if (found?.metadata?.writer !== writer || found.etag === etag) throw conflict(blob, found);
          etag = found.etag ?? null;
        }
      }
    },
  };
}

/** Null: it was deleted. */
async function current(blob: BlobClient): Promise<BlobProperties | null> {
  try {
    return await blob.getProperties();
  } catch (error) {
    if (hasStatus(error, 404)) return null;
    throw error;
  }
}

function conflict({ url }: BlobClient, found: BlobProperties | null): StateConflictError {
  // A URL with a shared access signature is a secret.
  const name = url.replace(/\?.*/, '');
  const [, who = 'another program'] = /^(.*) \S+$/.exec(found?.metadata?.writer ?? '') ?? [];
  const what = found === null ? 'was deleted' : `was written by ${who} at ${found.lastModified?.toISOString()}`;
  return new StateConflictError(
    `The state ${name} ${what}, after this process had read it. Only one process may use a state: stop one of them, or give each its own blob and consumer group. This process takes no further actions.`,
  );
}

// assumption: blob-store
/** https://learn.microsoft.com/rest/api/storageservices/blob-service-error-codes */
const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code));

const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof Error && 'statusCode' in error && error.statusCode === status;
