import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, systemClock } from '../clock.ts';
import type { FleetView, LifecycleRecord } from '../consumer/index.ts';
import type { PageView } from './answers.ts';
import { FleetModel } from './fleet-model.ts';
import { skippedNote } from './notes.ts';
import { type PageFiles, pageFiles } from './page-files.ts';
import { parseQuery } from './query.ts';
import { loopback, refusalOf, securityHeaders } from './request.ts';

/** What the page shows: a fleet, and a notification whenever it has changed. The part of a feed of the hub that the page uses. */
export interface FleetSource {
  readonly view: FleetView;
  /** All that the hub held is in the view: only now is an open event known to be open. */
  readonly isHistoryRead: boolean;
  /** Why a part of the hub cannot be read at present. */
  readonly problems: readonly { readonly message: string }[];
  /** @returns a function that ends the notifications. */
  subscribe(listener: {
    onRecord(record: LifecycleRecord, changedEventIds: readonly string[]): void;
    onHistoryRead(): void;
    onProblems(): void;
    onInvalid(problem: string): void;
  }): () => void;
}

export interface FleetPageOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly source: FleetSource;
  readonly clock?: Clock;
}

export interface FleetPage {
  readonly url: string;
  close(): Promise<void>;
}

/** The page notices a change within this time; a thousand changes in it are one message. */
const notifyMs = 250;
/** Without it, neither end would notice that the other is gone. */
const keepAliveMs = 15_000;
/** A person has a few tabs open. */
const most = { connections: 64, streams: 16, headerBytes: 8 * 1024, requestMs: 5_000 } as const;

/**
 * Serves the fleet as a page on 127.0.0.1. Read-only; every user of this machine can read it.
 * @throws if the port is in use, or may not be used (`code` is that of the operating system).
 */
export async function openFleetPage({ port, source, clock = systemClock }: FleetPageOptions): Promise<FleetPage> {
  const files = await pageFiles();
  const model = new FleetModel(source.view);
  const streams = new ChangeStreams();
  const changed = (): void => {
    model.changed();
    streams.changed();
  };
  let skipped = 0;
  const onInvalid = (): void => {
    skipped += 1;
    changed();
  };
  const unsubscribe = source.subscribe({ onRecord: changed, onHistoryRead: changed, onProblems: changed, onInvalid });
  const server = createServer(
    { maxHeaderSize: most.headerBytes, requestTimeout: most.requestMs },
    (request, response) => {
      const { port: ours } = server.address() as AddressInfo;
      try {
        respond(request, response, { source, files, model, streams, skipped, port: ours, now: clock.now().getTime() });
      } catch (error) {
        // A mistake in one answer ends neither the others nor what else this process does.
        if (!response.headersSent) response.writeHead(500, securityHeaders);
        response.end(`Internal error: ${String(error)}\n`);
      }
    },
  );
  server.headersTimeout = most.requestMs;
  server.maxConnections = most.connections;
  try {
    await listen(server, port);
  } catch (error) {
    unsubscribe();
    streams.close();
    throw error;
  }
  return {
    url: `http://${loopback}:${(server.address() as AddressInfo).port}/`,
    async close() {
      unsubscribe();
      streams.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, loopback, () => {
      server.off('error', reject);
      // Of a connection that could not be accepted: the next one may be.
      server.on('error', () => {});
      resolve();
    });
  });
}

interface Serving {
  readonly source: FleetSource;
  readonly files: PageFiles;
  readonly model: FleetModel;
  readonly streams: ChangeStreams;
  /** Messages that are not valid records. */
  readonly skipped: number;
  readonly port: number;
  readonly now: number;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const text = (status: number, sentence: string): Answer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${sentence}\n`,
});
const json = (status: number, value: unknown): Answer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(value),
});

function respond(request: IncomingMessage, response: ServerResponse, serving: Serving): void {
  const answer = answerTo(request, serving);
  if (answer === 'changes') {
    serving.streams.add(response);
    return;
  }
  const { status, contentType, body } = answer;
  response.writeHead(status, {
    ...securityHeaders,
    'content-type': contentType,
    'content-length': Buffer.byteLength(body),
    ...(status === 405 && { allow: 'GET, HEAD' }),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function answerTo(request: IncomingMessage, serving: Serving): Answer | 'changes' {
  const { files, model, streams, port, now } = serving;
  const refused = refusalOf(request, port);
  if (refused !== null) return text(refused.status, refused.reason);
  const target = request.url ?? '/';
  // A path that begins with `//` is a path here, and no host.
  const url = URL.parse(target.startsWith('/') ? `http://${loopback}${target}` : target);
  if (url === null) return text(404, 'Not found.');
  const { pathname, searchParams } = url;
  const file = Object.hasOwn(files, pathname) ? files[pathname] : undefined;
  if (file !== undefined) return { status: 200, contentType: file.contentType, body: file.text };
  if (pathname === '/view') {
    return json(200, pageView(serving, searchParams));
  }
  if (pathname === '/trace') {
    const trace = model.trace(searchParams.get('event') ?? '', now);
    return json(trace === null ? 404 : 200, trace);
  }
  if (pathname !== '/changes')
    return text(404, `Not found. Paths: ${[...Object.keys(files), '/view', '/trace', '/changes'].join(' ')}`);
  if (request.method === 'HEAD') return { status: 200, contentType: eventStream, body: '' };
  return streams.isFull ? text(503, `At most ${most.streams} pages can follow at once.`) : 'changes';
}

function pageView({ source, model, skipped, now }: Serving, search: URLSearchParams): PageView {
  const { isHistoryRead, problems } = source;
  const view = model.view(parseQuery(search), now);
  const notes = [...(isHistoryRead ? model.notes(now) : []), ...(skipped > 0 ? [skippedNote(skipped)] : [])];
  const reading = { isHistoryRead, problems: [...new Set(problems.map(({ message }) => message))], notes };
  // Until all is read, an event that looks open may have ended.
  const tiles = isHistoryRead ? view.tiles : view.tiles.map((tile) => ({ ...tile, urgency: 'fine' as const }));
  return { ...view, tiles, reading };
}

const eventStream = 'text/event-stream';

/** Server-sent events: one message whenever the fleet changed, for pages that then ask for what they show. */
class ChangeStreams {
  readonly #open = new Set<ServerResponse>();
  readonly #keepAlive = setInterval(() => this.#write(':\n\n'), keepAliveMs);
  #pending: NodeJS.Timeout | null = null;

  get isFull(): boolean {
    return this.#open.size >= most.streams;
  }

  add(response: ServerResponse): void {
    response.writeHead(200, { ...securityHeaders, 'content-type': eventStream });
    response.write('retry: 2000\n\n');
    this.#open.add(response);
    response.on('close', () => this.#open.delete(response));
  }

  changed(): void {
    this.#pending ??= setTimeout(() => {
      this.#pending = null;
      this.#write('event: changed\ndata: 1\n\n');
    }, notifyMs);
  }

  close(): void {
    clearInterval(this.#keepAlive);
    if (this.#pending !== null) clearTimeout(this.#pending);
    for (const response of this.#open) response.end();
  }

  /** Who does not read what was written before is not sent more: the next message says the same. */
  #write(message: string): void {
    for (const response of this.#open) if (!response.writableNeedDrain) response.write(message);
  }
}
