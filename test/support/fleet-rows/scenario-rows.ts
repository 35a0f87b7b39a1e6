import { vi } from 'vitest';
import { createErrorLog } from '../../../src/azure-simulator/errors.ts';
import { type ImdsSimulator, startImds } from '../../../src/azure-simulator/imds/server.ts';
import { findScenario } from '../../../src/azure-simulator/scenarios/index.ts';
import { createTokenIssuer } from '../../../src/azure-simulator/token-issuer.ts';
import { encodeRow, type Row } from '../../../src/sinks/log-analytics/encode.ts';
import { type FleetVmOptions, openFleetVm, watchScenario } from '../fleet.ts';
import { observerOf } from './group-play.ts';
import { heartbeatRows } from './heartbeats.ts';

/** The tables to which anything was sent, and the time at which they are queried. */
export interface FleetRows {
  readonly VmLifecycle_CL: Row[];
  readonly VmLifecycleBridge_CL: Row[];
  readonly now: Date;
}

export interface RowsOptions {
  /** VMs with a bridge, number 0 of the scenario first. Default: `web_0`. */
  readonly vms?: Readonly<Record<string, FleetVmOptions>>;
  /** When it begins. Default: noon of the first of March 2026. */
  readonly from?: Date;
  /** Default 60. */
  readonly heartbeatMinutes?: number;
}

/** The first event has the id `00000001-…`. */
const eventIdOf = (number: number): string => `${String(number).padStart(8, '0')}-ABCD-4000-8000-000000000000`;

/** The metadata service, but that ids of events are the same in every run. */
function numbered(imds: ImdsSimulator): ImdsSimulator {
  let scheduled = 0;
  return {
    ...imds,
    schedule(event) {
      scheduled += 1;
      return imds.schedule({ ...event, eventId: eventIdOf(scheduled) });
    },
    get vms() {
      return imds.vms;
    },
    get document() {
      return imds.document;
    },
  };
}

/**
 * What bridges send while a scenario is played at its real pace on the simulated metadata service: each record by the real decision and
 * the real encoder. Ids and times are the same in every run. The timers of the test are stopped meanwhile, so it is for tests only.
 */
export async function rowsOf(name: string, options: RowsOptions = {}): Promise<FleetRows> {
  const { vms = { web_0: {} }, from = new Date('2026-03-01T12:00:00Z'), heartbeatMinutes = 60 } = options;
  const scenario = findScenario(name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  const log = createErrorLog();
  const issuer = await createTokenIssuer();
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'], now: from });
  try {
    const { imds, close } = await startImds({ issuer, log, vms: [] });
    const stage = { imds: numbered(imds) };
    for (const [number, vm] of Object.keys(vms).entries()) imds.addVm({ ...scenario.vms?.[number], name: vm });
    const fleet = await Promise.all(Object.entries(vms).map(([vm, traits]) => openFleetVm(stage, vm, traits)));
    await watchScenario(stage, scenario, fleet);
    await Promise.all(fleet.map((vm) => vm.close()));
    await close();
    if (log.errors.length > 0) throw new Error(`the simulator failed in ${name}: ${log.errors.join('; ')}`);
    const now = new Date();
    const bridges = fleet.map(({ name: vm, records }) => ({
      observer: { ...observerOf(imds.vms.find((each) => each.name === vm) ?? { name: vm }), computer: null },
      records,
      streamId: `stream of ${vm}`,
    }));
    return {
      VmLifecycle_CL: fleet.flatMap(({ records }) => records.map(encodeRow)),
      VmLifecycleBridge_CL: bridges.flatMap((bridge) =>
        heartbeatRows({ ...bridge, bridgeVersion: '0.0.0', from, to: now, everyMinutes: heartbeatMinutes }),
      ),
      now,
    };
  } finally {
    vi.useRealTimers();
  }
}
