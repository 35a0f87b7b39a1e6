import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createErrorLog } from '../../src/azure-simulator/errors.ts';
import { type ImdsSimulator, startImds } from '../../src/azure-simulator/imds/server.ts';
import { type Impact, playScenario } from '../../src/azure-simulator/player.ts';
import { findScenario, type Scenario, scenarios } from '../../src/azure-simulator/scenarios/index.ts';
import { createTokenIssuer, type TokenIssuer } from '../../src/azure-simulator/token-issuer.ts';
import { until } from '../support/until.ts';

const log = createErrorLog();
let issuer: TokenIssuer;
let imds: ImdsSimulator;
let close: () => Promise<void>;
beforeAll(async () => {
  issuer = await createTokenIssuer();
  ({ imds, close } = await startImds({ issuer, log }));
});
afterAll(async () => {
  await close();
  expect(log.errors).toEqual([]);
});

function scenario(name: string): Scenario {
  const found = findScenario(name);
  if (found === undefined) throw new Error(`no scenario ${name}`);
  return found;
}

/** The steps of one play: those issued for its events. */
const stepsOf = (eventIds: readonly string[]): string[] =>
  imds.issued.filter(({ eventId }) => eventIds.includes(eventId)).map(({ step }) => step);

/** The steps that each scenario issues for its events, in order. */
const plays: [name: string, steps: string[]][] = [
  ['freeze', ['scheduled', 'started', 'removed']],
  ['canceled', ['scheduled', 'removed']],
  ['missed-started', ['scheduled', 'started', 'removed']],
  ['hardware-failure', ['started', 'removed']],
  ['superseded', ['scheduled', 'started', 'removed', 'removed']],
  ['degraded-host', ['scheduled', 'updated', 'started', 'removed']],
  ['approved', ['scheduled', 'started', 'removed']],
  ['leaves-resources', ['scheduled', 'updated', 'started', 'removed']],
];

describe('a scenario, played', () => {
  test.each(plays)('%s issues %j', async (name, steps) => {
    // NotBefore has whole seconds: at a higher speed a rescheduled date would be the date it was.
    const { over, eventIds } = await playScenario({ imds }, scenario(name), { speed: 200_000, vms: ['web_7'] });
    expect(over).toBe(true);
    expect(stepsOf(eventIds)).toEqual(steps);
    expect(imds.issued.at(0)?.resources).toContain('web_7');
  });

  test.each(scenarios.map(({ name }) => [name]))('%s leaves no event and no fault behind', async (name) => {
    const faults: unknown[] = [];
    const stage = { imds, eventHubs: { fault: record }, logAnalytics: { fault: record } };
    function record(fault: unknown): void {
      faults.push(fault);
    }
    await playScenario(stage, scenario(name), { speed: 200_000, vms: ['web_7'] });
    expect(imds.document.Events).toEqual([]);
    expect(faults.at(-1) ?? null).toBeNull();
    const answer = await fetch(`${imds.vmUrl('web_7')}/metadata/scheduledevents?api-version=2020-07-01`, {
      headers: { Metadata: 'true' },
    });
    expect(answer.status).toBe(200);
  });

  test('VMs that it needs and that are not there are added, with what is special about them', async () => {
    await playScenario({ imds }, scenario('standalone-in-zone'), { speed: 1e6, vms: ['alone'] });
    expect(imds.vms).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ name: 'alone', sees: 'own', scaleSet: null, placementGroupId: '' }),
        expect.objectContaining({ name: 'web_0', sees: 'own', scaleSet: null }),
      ]),
    );
  });

  const impacts: [minimumImpactSeconds: number, seconds: number][] = [
    [0, 0.00007],
    [0.5, 0.5],
    [60, 7],
  ];
  test.each(impacts)('an impact of at least %d s is reported as %d s', async (minimumImpactSeconds, seconds) => {
    const impacts: Impact[] = [];
    await playScenario({ imds }, scenario('freeze'), {
      minimumImpactSeconds,
      speed: 1e5,
      vms: ['web_3'],
      onImpact: (impact) => impacts.push(impact),
    });
    expect(impacts).toEqual([{ kind: 'freeze', vms: ['web_3'], seconds }]);
  });

  test('a start that is approved is not waited for', async () => {
    const play = playScenario(
      { imds },
      {
        ...scenario('user-redeploy'),
        steps: scenario('user-redeploy').steps.slice(0, 2),
      },
    );
    const eventId = imds.document.Events[0]?.EventId ?? '';
    await fetch(`${imds.url}/metadata/scheduledevents?api-version=2020-07-01`, {
      method: 'POST',
      headers: { Metadata: 'true' },
      body: JSON.stringify({ StartRequests: [{ EventId: eventId }] }),
    });
    const { over, eventIds } = await play;
    expect(over).toBe(true);
    expect(eventIds).toEqual([eventId]);
    imds.remove(eventId);
  });

  test('an aborted play ends where it is', async () => {
    const abort = new AbortController();
    const play = playScenario({ imds }, scenario('freeze'), { signal: abort.signal });
    await until(() => imds.document.Events.length === 1);
    abort.abort();
    const { over, eventIds } = await play;
    expect(over).toBe(false);
    expect(stepsOf(eventIds)).toEqual(['scheduled']);
    for (const eventId of eventIds) imds.remove(eventId);
  });

  test('a notice shrinks with the speed, and a step waits at least the requested time', async () => {
    const begun = performance.now();
    const play = playScenario({ imds }, scenario('freeze'), { speed: 1e6, minimumStepSeconds: 0.05 });
    const notBefore = Date.parse(imds.document.Events[0]?.NotBefore ?? '');
    expect(notBefore - Date.now()).toBeLessThanOrEqual(1_000);
    await play;
    expect(performance.now() - begun).toBeGreaterThanOrEqual(90);
  });

  test('an event that was canceled has no impact', async () => {
    const impacts: Impact[] = [];
    const unwatch = imds.watch(() => {
      for (const { EventId, EventStatus } of imds.document.Events) if (EventStatus === 'Started') imds.remove(EventId);
    });
    await playScenario({ imds }, scenario('freeze'), {
      speed: 1e5,
      vms: ['web_3'],
      onImpact: (one) => impacts.push(one),
    });
    unwatch();
    expect(impacts).toEqual([]);
  });

  test('no VM plays two parts', async () => {
    await playScenario({ imds }, scenario('leaves-resources'), { speed: 200_000, vms: ['web_1'] });
    expect(imds.issued.findLast(({ step }) => step === 'scheduled')?.resources).toEqual(['web_1', 'web_0']);
  });

  test('a scenario that names an event before it schedules it is refused', async () => {
    const faulty: Scenario = { ...scenario('freeze'), steps: [{ afterSeconds: 0, do: 'remove', event: 'unknown' }] };
    await expect(playScenario({ imds }, faulty)).rejects.toThrow('names unknown before it schedules it');
  });

  test('a scenario that names a VM that it has not is refused', async () => {
    const steps: Scenario['steps'] = [
      { afterSeconds: 0, do: 'impact', event: 'migration', kind: 'freeze', seconds: 1, on: [99] },
    ];
    const faulty: Scenario = { ...scenario('freeze'), steps };
    await expect(playScenario({ imds }, faulty, { onImpact: () => {} })).rejects.toThrow('names VM 99');
  });
});
