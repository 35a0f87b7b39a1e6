import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createDiscovery, linkLocal, probeTcp } from '../../src/imds/discover.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/until.ts';
import { startRawServer } from './raw-server.ts';

const never = new AbortController().signal;

const machine = mkdtempSync(join(tmpdir(), 'discover-'));
mkdirSync(join(machine, 'run/systemd/netif/leases'), { recursive: true });
writeFileSync(join(machine, 'run/systemd/netif/leases/2'), 'OPTION_245=a83f8110\n');
mkdirSync(join(machine, 'var/lib/waagent'), { recursive: true });
writeFileSync(join(machine, 'var/lib/waagent/WireServerEndpoint'), '168.63.129.16');
const bare = mkdtempSync(join(tmpdir(), 'discover-bare-'));
afterAll(() => {
  for (const root of [machine, bare]) rmSync(root, { recursive: true });
});

/** A network in which just these addresses take connections. */
function discoveryIn(reachable: Set<string>, root = machine) {
  const tried: string[] = [];
  const said: string[] = [];
  const log: Log = { ...silentLog, info: (_fields, message) => said.push(message) };
  const locate = createDiscovery({
    clock: createFakeClock(),
    log,
    root,
    probe: async (address) => {
      tried.push(address);
      return reachable.has(address);
    },
  });
  return { locate, tried, said };
}

describe('the endpoint "auto"', () => {
  test('is the link-local address when that is reachable, regardless of the lease files', async () => {
    const { locate, tried, said } = discoveryIn(new Set([linkLocal, '168.63.129.16']));
    expect(await locate(never)).toEqual({ kind: 'found', endpoint: 'http://169.254.169.254' });
    expect(tried).toEqual([linkLocal]);
    expect(said).toEqual([expect.stringContaining('link-local')]);
  });

  test('is the address of DHCP option 245 only when the other is not reachable, and logs this', async () => {
    const { locate, tried, said } = discoveryIn(new Set(['168.63.129.16']));
    expect(await locate(never)).toEqual({ kind: 'found', endpoint: 'http://168.63.129.16' });
    expect(tried).toEqual([linkLocal, '168.63.129.16']);
    expect(said).toEqual([expect.stringContaining(join(machine, 'run/systemd/netif/leases/2'))]);
  });

  test('stays what was found', async () => {
    const reachable = new Set(['168.63.129.16']);
    const { locate, tried, said } = discoveryIn(reachable);
    await locate(never);
    reachable.add(linkLocal);
    expect(await locate(never)).toMatchObject({ endpoint: 'http://168.63.129.16' });
    expect(tried).toHaveLength(2);
    expect(said).toHaveLength(1);
  });

  test('is discovered again after a failure, since the network may not be up yet', async () => {
    const reachable = new Set<string>();
    const { locate, said } = discoveryIn(reachable);
    expect(await locate(never)).toMatchObject({
      kind: 'not-found',
      reason: expect.stringMatching(/169\.254\.169\.254.*168\.63\.129\.16 of DHCP option 245.*imds\.endpoint/),
    });
    expect(said).toEqual([]);
    reachable.add(linkLocal);
    expect(await locate(never)).toMatchObject({ endpoint: 'http://169.254.169.254' });
  });

  test('without a lease file logs that too', async () => {
    const { locate } = discoveryIn(new Set(), bare);
    expect(await locate(never)).toMatchObject({ kind: 'not-found', reason: expect.stringContaining('no lease file') });
  });

  test('two who ask at once share one search', async () => {
    const { locate, tried } = discoveryIn(new Set([linkLocal]));
    const [one, other] = await Promise.all([locate(never), locate(never)]);
    expect(one).toEqual(other);
    expect(tried).toEqual([linkLocal]);
  });
});

describe('trying a connection', () => {
  test('succeeds with a server that takes connections and never answers', async () => {
    await using server = await startRawServer();
    const clock = createFakeClock();
    expect(await probeTcp('127.0.0.1', Number(new URL(server.url).port), { clock, signal: never })).toBe(true);
    await until(() => server.open() === 0);
    expect(clock.sleepers()).toBe(0);
  });

  test('fails where nothing listens', async () => {
    const server = await startRawServer();
    const port = Number(new URL(server.url).port);
    await server[Symbol.asyncDispose]();
    expect(await probeTcp('127.0.0.1', port, { clock: createFakeClock(), signal: never })).toBe(false);
  });

  test('fails at once when it is aborted', async () => {
    const clock = createFakeClock();
    expect(await probeTcp('127.0.0.1', 9, { clock, signal: AbortSignal.abort() })).toBe(false);
    expect(clock.sleepers()).toBe(0);
  });
});
