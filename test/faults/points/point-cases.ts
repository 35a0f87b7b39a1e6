import { DatabaseSync } from 'node:sqlite';
import type { FaultPoint } from '../../../src/fault-point.ts';
import { layoutOf } from '../../../src/outbox/store/layout.ts';
import { appendRecords, createHarness } from '../../outbox/harness.ts';
import { until } from '../../support/until.ts';
import type { FleetUnderTest, Vm } from '../fleet/fleet-under-test.ts';

/** How a bridge is brought to a fault point. */
export interface PointCase {
  /** Cases of one group run one after the other in one fleet. */
  readonly group: 'records' | 'files' | 'upkeep';
  /** How often a process may pass it before it ends there: each time in another situation. Default 1. */
  readonly mostPassings?: number;
  /** Passed by the process that sends: the bridge outlives it. */
  readonly isOfSender?: true;
  /** While no bridge runs, which has run before. */
  prepare?(fleet: FleetUnderTest, vm: Vm): void;
  /** While the bridge runs that is to end there. */
  provoke?(fleet: FleetUnderTest, vm: Vm): Promise<void>;
}

const ofRecords: PointCase = { group: 'records', mostPassings: 3 };
/** Opening meets a file whose rows are sound and whose schema is not. */
const ofReplacement: PointCase = {
  group: 'files',
  prepare: (_, vm) => change(vm, 'DROP INDEX IF EXISTS deliveries_pending'),
};
const ofStop: PointCase = {
  group: 'files',
  async provoke({ azure }, vm) {
    const { bridge } = vm;
    const before = azure.imds.polls[vm.name] ?? 0;
    await until(() => (azure.imds.polls[vm.name] ?? 0) > before || bridge !== vm.bridge, { what: 'a poll' });
    bridge?.kill('SIGTERM');
  },
};

export const pointCases: Readonly<Record<FaultPoint, PointCase>> = {
  'before-append': ofRecords,
  'in-append': ofRecords,
  'before-position-mark': ofRecords,
  'after-append': ofRecords,
  'before-send': ofRecords,
  'request-handed-over': ofRecords,
  'sink-accepted': { ...ofRecords, mostPassings: 1, isOfSender: true },
  'result-arrived': ofRecords,
  'before-settle': ofRecords,
  'in-settle': ofRecords,
  'after-settle': ofRecords,
  // The last record of an event is refused, alone, before and after the first record of the next event got through.
  'dead-letter': {
    group: 'records',
    prepare: ({ azure }, vm) =>
      azure.logAnalytics.fault({
        refuseRows: ({ VmName, Phase }) =>
          VmName === vm.name && ['Completed', 'Canceled', 'Ended'].includes(`${Phase}`),
      }),
  },
  'in-migration': { group: 'files', prepare: (_, vm) => change(vm, toFormat1000) },
  'replacement-written': ofReplacement,
  'before-quarantine': ofReplacement,
  'in-quarantine': ofReplacement,
  'before-install': ofReplacement,
  'before-checkpoint': { group: 'files' },
  // A minute after the start.
  'in-prune': { group: 'upkeep', prepare: (_, vm) => addOldRecords(vm) },
  'in-maintenance': { group: 'upkeep' },
  draining: ofStop,
  'before-close': ofStop,
};

function change({ stateDirectory }: Vm, sql: string): void {
  using db = new DatabaseSync(layoutOf(stateDirectory).outbox);
  db.exec(sql);
}

/** What format 1.1 added is taken away again. */
const toFormat1000 = `DROP TRIGGER IF EXISTS events_without_crc;
  DROP TRIGGER IF EXISTS meta_without_crc;
  ALTER TABLE events DROP COLUMN crc;
  ALTER TABLE undecided DROP COLUMN crc;
  DELETE FROM meta WHERE key LIKE '%.crc';
  PRAGMA user_version = 1000`;

/** Records that every sink has, so old that the next maintenance deletes them: the harness has a clock of its own. */
function addOldRecords({ stateDirectory }: Vm): void {
  const sinks = ['event-hubs', 'log-analytics'];
  const outbox = createHarness(stateDirectory).open({ sinks });
  const positions = appendRecords(outbox, { eventId: 'OLD', count: 20, open: false }).map(({ position }) => position);
  const delivered = positions.map((position) => ({ position, state: 'delivered' as const }));
  for (const sink of sinks) outbox.settle(sink, delivered, outbox.progress(sink));
  outbox.close();
}
