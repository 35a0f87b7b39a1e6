import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { ContainerClient } from '@azure/storage-blob';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { actOnce, blobStore, type LifecycleRecord, StateConflictError } from '../../src/consumer/index.ts';
import { sampleRecord } from '../support/sample-record.ts';
import { type Azurite, startAzurite, whyNoAzurite } from './azurite.ts';

const reason = whyNoAzurite();

describe.skipIf(reason)(`the state in a blob${reason}`, () => {
  let azurite: Azurite;
  let container: ContainerClient;
  let count = 0;
  const blob = (name = `state-${count++}.json`) => container.getBlockBlobClient(name);

  beforeAll(async () => {
    azurite = await startAzurite();
    container = await azurite.container('subscribers');
  });
  afterAll(() => azurite.close());

  test('is null at first, replaced as a whole, and read again by the next process', async () => {
    const one = blob();
    const store = blobStore(one);
    expect(await store.load()).toBeNull();
    for (const state of ['a longer state: läuft', 'short', '']) {
      await store.save(state);
      expect(await store.load()).toBe(state);
      expect(await blobStore(one).load()).toBe(state);
    }
    expect((await one.getProperties()).contentType).toBe('application/json');
  });

  test('is refused to the second of two processes that save it, with a message that names the first', async () => {
    const one = blob();
    await blobStore(one).save('before');
    const [first, second] = [blobStore(one), blobStore(one)];
    for (const store of [first, second]) expect(await store.load()).toBe('before');
    await first.save('of the first');
    const lost = await second.save('of the second').catch((error) => error);
    expect(lost).toBeInstanceOf(StateConflictError);
    expect(lost.message).toContain(`The state ${one.url} was written by ${hostname()} process ${process.pid} at 20`);
    expect(lost.message).toContain('This process takes no further actions.');
    await expect(second.save('again')).rejects.toThrow(StateConflictError);
    await first.save('of the first again');
    expect(await blobStore(one).load()).toBe('of the first again');
  });

  test('is refused to the second of two processes that find none', async () => {
    const one = blob();
    const [first, second] = [blobStore(one), blobStore(one)];
    for (const store of [first, second]) expect(await store.load()).toBeNull();
    await first.save('of the first');
    await expect(second.save('of the second')).rejects.toThrow(StateConflictError);
    expect(await first.load()).toBe('of the first');
  });

  test('goes over to a process that starts later', async () => {
    const one = blob();
    const first = blobStore(one);
    await first.save('of the first');
    const second = blobStore(one);
    await second.load();
    await second.save('of the second');
    await expect(first.save('of the first')).rejects.toThrow(StateConflictError);
    expect(await second.load()).toBe('of the second');
  });

  test('is refused where it was deleted, and the message shows no shared access signature', async () => {
    const one = blob();
    const store = blobStore({
      url: `${one.url}?sv=2024&sig=secret`,
      download: () => one.download(),
      getProperties: () => one.getProperties(),
      upload: (...args) => one.upload(...args),
    });
    await store.save('state');
    await one.delete();
    const lost = await store.save('next').catch((error) => error);
    expect(lost.message).toMatch(`The state ${one.url} was deleted`);
    expect(lost.message).not.toContain('secret');
  });

  test('cannot be loaded from a container that does not exist', async () => {
    const missing = new ContainerClient(azurite.connectionString, 'missing').getBlockBlobClient('state.json');
    await expect(blobStore(missing).load()).rejects.toMatchObject({ code: 'ContainerNotFound' });
  });

  test('is saved where the response of an upload is lost, and the client repeats the upload', async () => {
    const { url, lost } = await withLostResponses(azurite);
    const connectionString = azurite.connectionString.replace(/http:\/\/[^/;]+/, url);
    const retryOptions = { maxTries: 4, retryDelayInMs: 10 };
    const one = new ContainerClient(connectionString, 'subscribers', { retryOptions }).getBlockBlobClient('lost.json');
    const store = blobStore(one);
    await store.load();
    for (const state of ['first', 'second', 'third']) {
      await store.save(state);
      expect(await blobStore(one).load()).toBe(state);
    }
    expect(lost()).toBe(3);
  });

  test('lets one of two subscribers act on an event, while the other reports the conflict and stops', async () => {
    const one = blob();
    await blobStore(one).save(JSON.stringify({ format: 'scheduled-events-bridge-consumer/1', drained: {} }));
    const acts: string[] = [];
    const errors: unknown[][] = [[], []];
    const subscribers = await Promise.all(
      errors.map((own) =>
        actOnce(blobStore(one), {
          drain: ({ name }, { eventId }) => void acts.push(`drain ${name} ${eventId}`),
          restore: ({ name }) => void acts.push(`restore ${name}`),
          onError: (error) => own.push(error),
          retrySeconds: 0,
        }),
      ),
    );
    const hear = async (...records: LifecycleRecord[]): Promise<void> => {
      for (const subscriber of subscribers) subscriber.onRecords(records);
      await Promise.all(subscribers.map((subscriber) => subscriber.settled()));
    };
    for (const subscriber of subscribers) subscriber.onHistoryRead();
    const own = { vmName: 'web_0', affectedResources: ['web_0'], affectedResourceCount: 1 };
    await hear(sampleRecord({ ...own, eventId: 'E1', recordId: '1' }));
    await hear(sampleRecord({ ...own, eventId: 'E2', recordId: '2' }));
    expect(acts).toEqual(['drain web_0 e1', 'drain web_0 e2']);
    expect(errors.map(({ length }) => length).toSorted()).toEqual([0, 1]);
    expect(errors.flat()[0]).toBeInstanceOf(StateConflictError);
  });
});

/** A way to Azurite on which the response of each first upload of a state is lost, after Azurite has made it. */
async function withLostResponses(azurite: Azurite): Promise<{ url: string; lost(): number }> {
  const to = new URL(/BlobEndpoint=([^;]+)/.exec(azurite.connectionString)?.[1] ?? '');
  const seen = new Set<string>();
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', () => {
      const body = Buffer.concat(chunks);
      const { method, url: path, headers } = incoming;
      // The signature covers the path, and not the host.
      const upstream = request({ port: to.port, host: to.hostname, method, path, headers }, (response) => {
        const isFirst = method === 'PUT' && !seen.has(body.toString());
        if (isFirst) seen.add(body.toString());
        if (isFirst) response.resume().on('end', () => incoming.socket.destroy());
        else response.pipe(outgoing.writeHead(response.statusCode ?? 500, response.headers));
      });
      upstream.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lost: () => seen.size };
}
