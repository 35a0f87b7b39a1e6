import { describe, expect, test } from 'vitest';
import { type AzureSimulator, startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { playScenario } from '../../src/azure-simulator/player.ts';
import { findScenario } from '../../src/azure-simulator/scenarios/index.ts';
import { configurationFor, startBridge, temporaryDirectory } from '../support/bridge-process.ts';
import { firstCopies, hubRecords, tableRows } from '../support/delivered.ts';
import { until } from '../support/until.ts';

/** A bridge polls once a second. */
const minimumStepSeconds = 2;

/** Plays it in front of a real bridge, and waits until both destinations hold an end of each of its events. */
async function play(name: string, azure: AzureSimulator): Promise<void> {
  using directory = temporaryDirectory(name);
  const scenario = findScenario(name) ?? expect.unreachable(name);
  const bridge = startBridge(configurationFor(azure, 'web_0', directory.path));
  try {
    await until(() => azure.imds.polls.web_0, { what: 'the first poll' });
    const { eventIds } = await playScenario(azure, scenario, { speed: scenario.demoSpeed, minimumStepSeconds });
    const ended = (): number => stepsOnHub(azure).filter((step) => / (Completed|Canceled|Ended)$/.test(step)).length;
    await until(() => ended() === eventIds.length && hubRecords(azure).length > 0, { timeoutMs: 90_000 });
    await until(() => firstCopies(tableRows(azure)).length === stepsOnHub(azure).length, { timeoutMs: 90_000 });
  } finally {
    bridge.kill('SIGTERM');
    await bridge.exited;
  }
}

/** What the hub holds, copies folded, in the order of the outbox: `Freeze Started`. */
const stepsOnHub = (azure: AzureSimulator): string[] =>
  firstCopies(hubRecords(azure))
    .sort((a, b) => a.position - b.position)
    .map(({ eventType, phase }) => `${eventType} ${phase}`);

describe.concurrent('a real bridge', () => {
  test('that requests events first waits for the feature, and finds the freeze that was announced by then', async ({
    expect,
  }) => {
    const azure = await startAzureSimulator();
    try {
      await play('warm-up', azure);
      expect(stepsOnHub(azure)).toEqual(['Freeze Scheduled', 'Freeze Started', 'Freeze Completed']);
      expect(azure.errors).toEqual([]);
    } finally {
      await azure.close();
    }
  });

  test('in chaos delivers every step of every event to both destinations, each once except for copies', async ({
    expect,
  }) => {
    const azure = await startAzureSimulator();
    try {
      await play('chaos', azure);
      expect(stepsOnHub(azure).sort()).toEqual(
        [
          ['Freeze Scheduled', 'Freeze Started', 'Freeze Completed'],
          ['Preempt Scheduled', 'Preempt Started', 'Preempt Completed'],
          ['Reboot Started', 'Reboot Completed'],
        ]
          .flat()
          .sort(),
      );
      const ids = firstCopies(hubRecords(azure)).map(({ recordId }) => recordId);
      expect(new Set(firstCopies(tableRows(azure)).map(({ RecordId }) => RecordId))).toEqual(new Set(ids));
      expect(hubRecords(azure).length).toBeGreaterThan(ids.length); // what was accepted before the connection broke
      expect(azure.errors).toEqual([]);
    } finally {
      await azure.close();
    }
  });
});
