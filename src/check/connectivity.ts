import { lookup } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { proxyBefore } from '../azure/proxy.ts';

/** The route to a destination, as the SDKs would take it. */
export interface NetworkPath {
  readonly host: string;
  readonly port: number;
  /** False only for the emulator. */
  readonly tls: boolean;
  readonly proxy: URL | null;
}

/** The way to a URL of http or https. */
export function networkPathTo(url: string): NetworkPath {
  const { hostname, port, protocol } = new URL(url);
  const tls = protocol === 'https:';
  return { host: unbracketed(hostname), port: Number(port || (tls ? 443 : 80)), tls, proxy: proxyBefore(hostname) };
}

/** A host of a URL as an address: IPv6 without its brackets. */
export const unbracketed = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

export type Step = 'name' | 'tcp' | 'tls';

/** The stages that were reached; `failed` is the one at which it ended. */
export interface ProbeResult {
  readonly addresses: readonly string[];
  /** `host:port` of the proxy that opened the way. */
  readonly proxy: string | null;
  readonly connectMs: number | null;
  readonly certificate: { readonly issuer: string; readonly validTo: string } | null;
  readonly failed: { readonly step: Step; readonly error: unknown } | null;
}

/** Goes as far as it gets within `ms`, closes what it opened. Never rejects. */
export async function probe(way: NetworkPath, ms: number, signal: AbortSignal): Promise<ProbeResult> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const seen = { addresses: [] as string[], proxy: null as string | null, connectMs: null as number | null };
  let step: Step = 'name';
  let socket: Socket | null = null;
  try {
    const began = performance.now();
    const first = way.proxy ? proxyAddress(way.proxy) : way;
    seen.addresses.push(...(await unless(within, resolve(first.host))));
    if (!way.proxy) step = 'tcp';
    socket = await unless(within, open(first));
    if (way.proxy) {
      await unless(within, tunnel(socket, way, way.proxy));
      seen.proxy = way.proxy.host;
    }
    seen.connectMs = Math.round(performance.now() - began);
    step = 'tls';
    const certificate = way.tls ? await unless(within, handshake(socket, way.host)) : null;
    return { ...seen, certificate, failed: null };
  } catch (error) {
    return { ...seen, certificate: null, failed: { step, error } };
  } finally {
    socket?.destroy();
  }
}

const proxyAddress = (proxy: URL): { host: string; port: number } => ({
  host: unbracketed(proxy.hostname),
  port: Number(proxy.port || 80),
});

const resolve = async (host: string): Promise<string[]> =>
  isIP(host) ? [host] : (await lookup(host, { all: true })).map(({ address }) => address);

function open({ host, port }: { readonly host: string; readonly port: number }): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = connect({ host, port });
    socket.once('connect', () => done(socket)).once('error', fail);
  });
}

/** `CONNECT`, as https://www.rfc-editor.org/rfc/rfc9110#name-connect has it. Says a refusal in the words that undici has for it. */
function tunnel(socket: Socket, { host, port }: NetworkPath, proxy: URL): Promise<void> {
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  const authorization = proxy.username
    ? `Proxy-Authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`
    : '';
  return new Promise((done, fail) => {
    let head = '';
    const read = (chunk: Buffer): void => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      if (end < 0 && head.length < 16_384) return;
      socket.off('data', read);
      socket.pause();
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1];
      if (status?.startsWith('2')) done();
      else fail(new Error(`Proxy response (${status ?? 'none that can be read'}) !== 200 when HTTP Tunneling`));
    };
    socket.on('data', read);
    socket.once('error', fail);
    socket.once('end', () => fail(Object.assign(new Error('the proxy closed the connection'), { code: 'ECONNRESET' })));
    socket.write(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n${authorization}\r\n`);
  });
}

function handshake(socket: Socket, host: string): Promise<NonNullable<ProbeResult['certificate']>> {
  return new Promise((done, fail) => {
    const secure: TLSSocket = connectTls({ socket, host, ...(isIP(host) ? {} : { servername: host }) }, () => {
      const { issuer, valid_to: validTo } = secure.getPeerCertificate();
      done({ issuer: [issuer?.O ?? issuer?.CN ?? 'an unnamed authority'].flat().join(' '), validTo });
      secure.destroy();
    });
    secure.once('error', fail);
    secure.once('end', () => fail(Object.assign(new Error('closed in the handshake'), { code: 'ECONNRESET' })));
  });
}

/** What takes longer ends like a connection without an answer. */
function unless<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((done, fail) => {
    const timeOut = (): void => fail(Object.assign(new Error('no answer in time'), { code: 'ETIMEDOUT' }));
    if (signal.aborted) timeOut();
    signal.addEventListener('abort', timeOut, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener('abort', timeOut));
  });
}
