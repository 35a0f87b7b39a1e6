import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type AzureSimulator,
  type AzureSimulatorOptions,
  startAzureSimulator,
} from '../../src/azure-simulator/index.ts';
import { openStage, type Stage } from './stage.ts';

/** What an operator has to know in a situation. Written down beforehand, from what they need; never copied from output. */
export interface Situation {
  readonly name: string;
  /** Brings it about, with a real fault, and waits until it is so. */
  readonly make: (stage: Stage) => Promise<unknown> | unknown;
  /** The first line of `status`. */
  readonly message: RegExp;
  /** Somewhere on the page of `status`. */
  readonly page?: RegExp;
  /** Exit codes. */
  readonly status: number;
  readonly check: number;
  /** Somewhere in what `check` prints. */
  readonly checkPrints?: RegExp;
  /** `/readyz`: 200 with this in its body, 503, or no answer. */
  readonly ready: RegExp | 503 | null;
  /** `status` in `/healthz`. */
  readonly health?: 'ok' | 'warning' | 'unready';
}

/** Creates it, and runs everything that shows health. */
export async function play(stage: Stage, situation: Situation): Promise<void> {
  const { make, message, page = /./, check, checkPrints = /./, ready, health } = situation;
  await make(stage);
  const [status, readyz, healthz] = await Promise.all([
    stage.showStatus(),
    stage.http('/readyz'),
    stage.http('/healthz'),
  ]);
  // Not beside `status`: each gives the service two seconds to answer.
  const checked = await stage.command(['check']);
  const first = (status.out || status.err).split('\n', 1)[0];
  expect({ first, code: status.code }).toEqual({ first: expect.stringMatching(message), code: situation.status });
  expect(status.out + status.err).toMatch(page);
  expect({ out: checked.out, code: checked.code }, checked.out).toEqual({
    out: expect.stringMatching(checkPrints),
    code: check,
  });
  if (ready === null) expect(readyz).toBeNull();
  else if (ready === 503) expect(readyz).toMatchObject({ status: 503 });
  else expect(readyz).toEqual({ status: 200, body: expect.stringMatching(ready) });
  if (health === undefined) return;
  const state = health === 'unready' ? 'Unhealthy' : 'Healthy';
  expect(JSON.parse(healthz?.body ?? '{}')).toMatchObject({ ApplicationHealthState: state, status: health });
}

/** All is well: what every situation has to differ from, and end in. */
export const well = {
  message: /^Running; (both destinations are|Standard output is|Event Hubs is|Log Analytics is) up to date\.$/,
  status: 0,
  check: 0,
  checkPrints: /^No problem found: \d+ ok/m,
  ready: /^ready\n$/,
  health: 'ok',
} as const;

/**
 * One situation after the other, each beginning where the one before ended, with an Azure and a stage of their own: several such lists
 * are played at the same time.
 */
export function playInTurn(
  name: string,
  situations: readonly Situation[],
  {
    simulator,
    open = openStage,
    close,
  }: {
    readonly simulator?: AzureSimulatorOptions;
    readonly open?: (azure: AzureSimulator) => Promise<Stage>;
    /** At the very end. */
    readonly close?: () => void;
  } = {},
): void {
  describe(name, { concurrent: true }, () => {
    let azure: AzureSimulator;
    let stage: Stage;
    beforeAll(async () => {
      azure = await startAzureSimulator(simulator);
      stage = await open(azure);
    });
    afterAll(async () => {
      await stage[Symbol.asyncDispose]();
      await azure.close();
      close?.();
    });
    test.for(situations)('$name', { concurrent: false }, (situation) => play(stage, situation));
  });
}
