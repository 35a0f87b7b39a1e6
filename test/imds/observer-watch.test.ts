import { describe, expect, test } from 'vitest';
import type { InstanceAnswer } from '../../src/imds/client.ts';
import { createObserverWatch, type ObserverWatchOptions } from '../../src/imds/observer-watch.ts';
import type { Observer } from '../../src/lifecycle/scheduled-event.ts';
import type { Log } from '../../src/log.ts';
import { silentLog } from '../../src/log.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const metadata = (compute: object): InstanceAnswer => ({
  kind: 'metadata',
  metadata: { compute },
  apiVersion: '2023-11-15',
});
const web3 = { name: 'web_3', vmId: 'id-3', location: 'westeurope', tagsList: [{ name: 'owner', value: 'web-team' }] };
const busy = (code = 'http-503', retryAfterMs: number | null = null): InstanceAnswer => ({
  kind: 'unavailable',
  code,
  reason: 'It is busy.',
  retryAfterMs,
});

const stored = (vmName: string, rest: Partial<Observer> = {}): Observer => ({
  computer: 'old-name',
  vmId: `id-of-${vmName}`,
  vmName,
  resourceId: null,
  subscriptionId: null,
  resourceGroup: null,
  vmScaleSetName: null,
  vmScaleSetResourceId: null,
  placementGroupId: null,
  location: 'northeurope',
  zone: null,
  physicalZone: null,
  faultDomain: null,
  updateDomain: null,
  vmSize: null,
  vmPriority: null,
  osType: null,
  imageReference: null,
  azureEnvironment: null,
  tags: { owner: 'web-team', secret: 'x' },
  ...rest,
});

/** A watch on a service that gives these answers in order, and repeats the last. */
function watchOn(answers: readonly InstanceAnswer[], options: Partial<ObserverWatchOptions> = {}) {
  const clock = createFakeClock();
  const askedAt: number[] = [];
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => warnings.push(message) };
  const watch = createObserverWatch({
    imds: {
      async instance() {
        askedAt.push(clock.monotonicMs());
        return answers[Math.min(askedAt.length, answers.length) - 1] ?? busy();
      },
    },
    configured: { tags: ['owner'] },
    computer: 'web000003',
    stored: null,
    clock,
    log,
    ...options,
  });
  const stop = new AbortController();
  const running = watch.run(stop.signal);
  /** Seconds between two questions. */
  const pauses = (): number[] => askedAt.slice(1).map((at, index) => (at - (askedAt[index] ?? 0)) / 1000);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    expect(clock.sleepers()).toBe(0);
  };
  return { watch, clock, askedAt, pauses, warnings, end };
}

describe('the observer', () => {
  test('is unknown until the metadata service has answered once', async () => {
    const { watch, clock, end } = watchOn([busy(), metadata(web3)]);
    await clock.advance(0);
    expect(watch.known()).toBeNull();
    expect(watch.fresh()).toBe(false);
    await clock.advance(1000);
    expect(watch.known()).toMatchObject({
      vmName: 'web_3',
      vmId: 'id-3',
      computer: 'web000003',
      tags: { owner: 'web-team' },
    });
    expect(watch.fresh()).toBe(true);
    await end();
  });

  test('is known at once from what was stored, though not fresh; host name and tags are those of today', async () => {
    const { watch, clock, end } = watchOn([busy()], { stored: stored('web_3') });
    expect(watch.known()).toMatchObject({ vmName: 'web_3', computer: 'web000003', tags: { owner: 'web-team' } });
    expect(watch.known()?.tags).not.toHaveProperty('secret');
    expect(watch.fresh()).toBe(false);
    await clock.advance(60_000);
    expect(watch.known()).toMatchObject({ vmName: 'web_3' });
    expect(watch.fresh()).toBe(false);
    await end();
  });

  test('is the one of the metadata service, once it has answered', async () => {
    const { watch, clock, end } = watchOn([metadata(web3)], { stored: stored('copied_0', { zone: '1' }) });
    await clock.advance(0);
    expect(watch.known()).toMatchObject({ vmName: 'web_3', vmId: 'id-3', zone: null });
    expect(watch.fresh()).toBe(true);
    await end();
  });

  test('is the configured one while the metadata service has not answered', async () => {
    const configured = { tags: [], vmId: 'mine', vmName: 'vmss_vm1' };
    const { watch, clock, end } = watchOn([busy('http-404')], { configured, stored: stored('web_3') });
    expect(watch.known()).toMatchObject({ vmId: 'mine', vmName: 'vmss_vm1', location: 'northeurope', tags: {} });
    expect(watch.fresh()).toBe(true);
    await clock.advance(10_000);
    expect(watch.known()).toMatchObject({ vmId: 'mine' });
    await end();
  });

  test('is unchanged by an answer without a name', async () => {
    const { watch, clock, warnings, end } = watchOn([metadata({ ...web3, vmId: '' })], { stored: stored('web_3') });
    await clock.advance(0);
    expect(watch.known()).toMatchObject({ vmId: 'id-of-web_3' });
    expect(watch.fresh()).toBe(false);
    expect(warnings).toEqual([expect.stringContaining('observer.vmId')]);
    await end();
  });
});

describe('reading', () => {
  test('is retried without end, with growing pauses', async () => {
    const { clock, pauses, end } = watchOn([busy()]);
    await clock.advance(400_000);
    expect(pauses()).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
    await end();
  });

  test('is requested again after the Retry-After of the service, within limits', async () => {
    const { clock, pauses, end } = watchOn([busy('http-429', 30_000), busy('http-429', 86_400_000), metadata(web3)]);
    await clock.advance(400_000);
    expect(pauses()).toEqual([30, 300]);
    await end();
  });

  test('is requested again every hour, and after a failure with short pauses', async () => {
    const { clock, pauses, end } = watchOn([metadata(web3), busy(), metadata(web3), busy(), metadata(web3)]);
    await clock.advance(3 * 3_600_000);
    expect(pauses()).toEqual([3600, 1, 3600, 1]);
    await end();
  });

  test('is repeated at once on request, also when the request comes while one is under way', async () => {
    const { watch, clock, askedAt, end } = watchOn([metadata(web3)]);
    await clock.advance(60_000);
    watch.refresh();
    await clock.advance(0);
    expect(askedAt).toHaveLength(2);
    watch.refresh();
    watch.refresh();
    await clock.advance(0);
    expect(askedAt).toHaveLength(3);
    await end();
  });

  test('is reported to listeners until they stop listening', async () => {
    const { watch, clock, end } = watchOn([busy(), metadata(web3), busy(), metadata({ ...web3, name: 'web_4' })]);
    const reported: string[] = [];
    const stop = watch.onRead(({ vmName }) => reported.push(vmName));
    await clock.advance(1000);
    expect(reported).toEqual(['web_3']);
    await clock.advance(3_601_000);
    expect(reported).toEqual(['web_3', 'web_4']);
    stop();
    await clock.advance(3_600_000);
    expect(reported).toHaveLength(2);
    await end();
  });

  test('warns once an hour and reason', async () => {
    const { clock, warnings, end } = watchOn([busy(), busy(), busy('timeout'), busy()]);
    await clock.advance(3_500_000);
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toContain('It is busy.');
    await clock.advance(200_000);
    expect(warnings).toHaveLength(3);
    await end();
  });
});
