import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createErrorLog } from '../../src/azure-simulator/errors.ts';
import { type ImdsSimulator, startImds } from '../../src/azure-simulator/imds/server.ts';
import { playScenario } from '../../src/azure-simulator/player.ts';
import { findScenario, type Scenario, scenarios } from '../../src/azure-simulator/scenarios.ts';
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

const plays: [name: string, steps: string[]][] = [
  ['freeze', ['scheduled', 'started', 'removed']],
  ['reboot', ['scheduled', 'started', 'removed']],
  ['canceled', ['scheduled', 'removed']],
  ['missed-started', ['scheduled', 'started', 'removed']],
  ['hardware-failure', ['started', 'removed']],
  ['user-redeploy', ['scheduled', 'started', 'removed']],
  ['degraded-host', ['scheduled', 'updated', 'started', 'removed']],
  ['preempt', ['scheduled', 'started', 'removed']],
  ['terminate', ['scheduled', 'started', 'removed']],
];

describe('a scenario, played', () => {
  test('every scenario has its row', () => {
    expect(plays.map(([name]) => name)).toEqual(scenarios.map(({ name }) => name));
  });

  test.each(plays)('%s issues %j and leaves nothing behind', async (name, steps) => {
    // NotBefore has whole seconds: at a higher speed a rescheduled date would be the date it was.
    const { over, eventIds } = await playScenario(imds, scenario(name), { speed: 200_000, resources: ['web_7'] });
    expect(over).toBe(true);
    expect(stepsOf(eventIds)).toEqual(steps);
    expect(imds.issued.at(-1)?.resources).toEqual(['web_7']);
    expect(imds.document.Events).toEqual([]);
  });

  test('a start that is approved is not waited for', async () => {
    const play = playScenario(imds, {
      ...scenario('user-redeploy'),
      steps: scenario('user-redeploy').steps.slice(0, 2),
    });
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
    const play = playScenario(imds, scenario('freeze'), { signal: abort.signal });
    await until(() => imds.document.Events.length === 1);
    abort.abort();
    const { over, eventIds } = await play;
    expect(over).toBe(false);
    expect(stepsOf(eventIds)).toEqual(['scheduled']);
    for (const eventId of eventIds) imds.remove(eventId);
  });

  test('a notice shrinks with the speed, and a step waits at least as long as asked for', async () => {
    const begun = performance.now();
    const play = playScenario(imds, scenario('freeze'), { speed: 1e6, minimumStepSeconds: 0.05 });
    const notBefore = Date.parse(imds.document.Events[0]?.NotBefore ?? '');
    expect(notBefore - Date.now()).toBeLessThanOrEqual(1_000);
    await play;
    expect(performance.now() - begun).toBeGreaterThanOrEqual(90);
  });

  test('a scenario that names an event before it schedules it is refused', async () => {
    const faulty: Scenario = { ...scenario('freeze'), steps: [{ afterSeconds: 0, do: 'remove', event: 'nobody' }] };
    await expect(playScenario(imds, faulty)).rejects.toThrow('names nobody before it schedules it');
  });
});
