import { type AzureEvent, ago, type Impact, type Ms, minute, second } from './truth.ts';

/** An event in short; the defaults are what Azure usually does. */
interface Plan {
  readonly what: string;
  readonly group: string;
  readonly vms: readonly string[];
  readonly type?: AzureEvent['type'];
  readonly source?: AzureEvent['source'];
  /** When Azure begins; null: never. */
  readonly startedAt: Ms | null;
  /** Default: a quarter of an hour before it starts. */
  readonly announcedAt?: Ms | null;
  /** Default: when it starts. */
  readonly notBefore?: Ms | null;
  /** Default: eight minutes after it starts. */
  readonly removedAt?: Ms;
  readonly approval?: AzureEvent['approval'];
  /** How long each VM is down, or paused by a Freeze; Infinity: it does not return. */
  readonly downMs?: Ms;
  /** When the VMs go down, after the start of the event; negative: before it. Default 5 s. */
  readonly downAfterMs?: Ms;
  /** VMs that the event names but does not affect. */
  readonly spared?: readonly string[];
}

/** The events that the tests are about; the rest of the fleet is random. */
export function plannedEvents(
  random: (bound: number) => number,
  taken: readonly { readonly name: string; readonly at: Ms }[],
): AzureEvent[] {
  const aWhile = (): Ms => 80 * second + random(60_000);
  const plans: Plan[] = [
    {
      what: 'announced before the month that queries cover',
      group: 'sql-0',
      vms: ['sql-0'],
      type: 'Redeploy',
      announcedAt: ago(33),
      startedAt: ago(24),
    },
    { what: 'wave, first fault domain', group: 'web-west', vms: ['web_0', 'web_5'], startedAt: ago(20) },
    { what: 'wave, second fault domain', group: 'web-west', vms: ['web_1', 'web_6'], startedAt: ago(20, 0, 20) },
    {
      what: 'fault domain 2 is down for long',
      group: 'web-west',
      vms: ['web_2'],
      startedAt: ago(9),
      downMs: 12 * minute,
      removedAt: ago(9, 0, 16),
    },
    {
      what: 'fault domain 3 meanwhile',
      group: 'web-west',
      vms: ['web_3'],
      startedAt: ago(9, 0, 5),
      downMs: 6 * minute,
    },
    { what: 'down for a moment, listed for long', group: 'web-west', vms: ['web_1'], startedAt: ago(9, 2) },
    {
      what: 'down while the one before is listed and back',
      group: 'web-west',
      vms: ['web_7'],
      startedAt: ago(9, 2, 6),
    },
    { what: 'three of an availability set', group: 'app', vms: ['app-0', 'app-1', 'app-2'], startedAt: ago(12) },
    {
      what: 'canceled for two',
      group: 'app',
      vms: ['app-3', 'app-4'],
      announcedAt: ago(11),
      notBefore: ago(11, 0, 15),
      startedAt: null,
      removedAt: ago(11, 0, 6),
    },
    {
      what: 'three of a set that one VM has left',
      group: 'web-north',
      vms: ['web_0', 'web_1', 'web_2'],
      startedAt: ago(8),
    },
    {
      what: 'fails before its announced day, seen',
      group: 'sql-0',
      vms: ['sql-0'],
      type: 'Redeploy',
      announcedAt: ago(6),
      notBefore: ago(1),
      startedAt: ago(3),
    },
    {
      what: 'fails before its announced day, unseen',
      group: 'sql-1',
      vms: ['sql-1'],
      type: 'Redeploy',
      announcedAt: ago(6, 1),
      notBefore: ago(1, 1),
      startedAt: ago(3, 1),
      downAfterMs: -400,
    },
    {
      what: 'the same, seen by another VM only',
      group: 'app',
      vms: ['app-5'],
      type: 'Redeploy',
      announcedAt: ago(6, 2),
      notBefore: ago(1, 2),
      startedAt: ago(3, 2),
      downAfterMs: -400,
      removedAt: ago(3, 2, 1.2),
    },
    {
      what: 'the same, observed by no bridge',
      group: 'web-north',
      vms: ['web_1'],
      type: 'Redeploy',
      announcedAt: ago(5, 12),
      notBefore: ago(1),
      startedAt: ago(3.3),
      downAfterMs: -400,
      removedAt: ago(3.3, 0, 1),
    },
    {
      what: 'approved for a user',
      group: 'sql-2',
      vms: ['sql-2'],
      source: 'User',
      announcedAt: ago(7),
      notBefore: ago(7, 0, 15),
      startedAt: ago(7, 0, 0.5),
      approval: { by: 'sql-2', at: ago(7, 0, 0.4), result: 'accepted' },
    },
    {
      what: 'approved freeze',
      group: 'web-west',
      vms: ['web_4'],
      type: 'Freeze',
      announcedAt: ago(4),
      notBefore: ago(4, 0, 15),
      startedAt: ago(4, 0, 1),
      approval: { by: 'web_4', at: ago(4, 0, 0.8), result: 'accepted' },
      downMs: 4 * second,
    },
    {
      what: 'approved on behalf of another VM',
      group: 'app',
      vms: ['app-7'],
      type: 'Freeze',
      announcedAt: ago(4, 2),
      notBefore: ago(4, 2, 15),
      startedAt: ago(4, 2, 1),
      approval: { by: 'app-9', at: ago(4, 2, 0.8), result: 'accepted' },
      downMs: 4 * second,
    },
    {
      what: 'approval refused',
      group: 'web-west',
      vms: ['web_8'],
      type: 'Freeze',
      startedAt: ago(2, 0, 15),
      approval: { by: 'web_8', at: ago(2, 0, 1), result: 'refused' },
      downMs: 3 * second,
    },
    {
      what: 'hardware failure that no bridge observed',
      group: 'web-north',
      vms: ['web_2'],
      announcedAt: null,
      notBefore: null,
      startedAt: ago(13),
      downAfterMs: -20 * second,
    },
    {
      what: 'hardware failure before a witness',
      group: 'app',
      vms: ['app-6'],
      announcedAt: null,
      notBefore: null,
      startedAt: ago(13, 5),
      downAfterMs: -20 * second,
    },
    {
      what: 'announced five minutes ahead',
      group: 'web-north',
      vms: ['web_3'],
      announcedAt: ago(15),
      startedAt: ago(15, 0, 5),
    },
    {
      what: 'state lost in mid-event',
      group: 'web-west',
      vms: ['web_6'],
      type: 'Freeze',
      startedAt: ago(5, 0, 15),
      downMs: 6 * second,
    },
    {
      what: 'state lost, and over meanwhile',
      group: 'sql-2',
      vms: ['sql-2'],
      type: 'Freeze',
      startedAt: ago(10, 0, 15),
      downMs: 5 * second,
    },
    {
      what: 'upgrade in mid-event',
      group: 'web-west',
      vms: ['web_1'],
      type: 'Freeze',
      startedAt: ago(6, 0, 15),
      downMs: 7 * second,
    },
    {
      what: 'cut off from the network',
      group: 'web-north',
      vms: ['web_4'],
      type: 'Freeze',
      startedAt: ago(17, 12),
      downMs: 8 * second,
    },
    { what: 'reboot of a clock that is wrong', group: 'web-north', vms: ['web_5'], startedAt: ago(14) },
    { what: 'reboot of a VM deleted a day later', group: 'web-north', vms: ['web_9'], startedAt: ago(2) },
    {
      what: 'begun, listed still, and the VM is back',
      group: 'web-west',
      vms: ['web_0'],
      startedAt: ago(0, 0, -50),
      removedAt: Infinity,
    },
    {
      what: 'taken down before it saw the start, gone for two hours',
      group: 'web-north',
      vms: ['web_6'],
      startedAt: ago(0, -2),
      downAfterMs: -300,
      downMs: Infinity,
      removedAt: Infinity,
    },
    {
      what: 'gone for 30 hours',
      group: 'sql-2',
      vms: ['sql-2'],
      startedAt: ago(0, -30),
      downAfterMs: -1200,
      downMs: Infinity,
      removedAt: Infinity,
    },
    {
      what: 'dies before its announced day and stays down',
      group: 'web-north',
      vms: ['web_0'],
      type: 'Redeploy',
      announcedAt: ago(2),
      notBefore: ago(-3),
      startedAt: ago(0, -5),
      downAfterMs: -400,
      downMs: Infinity,
      removedAt: Infinity,
    },
    { what: 'back without its bridge', group: 'app', vms: ['app-3'], startedAt: ago(0, -5) },
    {
      what: 'due tomorrow, announced long ago',
      group: 'web-west',
      vms: ['web_5'],
      type: 'Redeploy',
      announcedAt: ago(3),
      notBefore: ago(0, 20),
      startedAt: null,
      removedAt: Infinity,
    },
    {
      what: 'due the day after, announced long ago',
      group: 'app',
      vms: ['app-4'],
      type: 'Redeploy',
      announcedAt: ago(5),
      notBefore: ago(-1, 6),
      startedAt: null,
      removedAt: Infinity,
    },
    {
      what: 'due in ten minutes, just announced',
      group: 'web-west',
      vms: ['web_7'],
      type: 'Freeze',
      announcedAt: ago(0, 0, -5),
      notBefore: ago(0, 0, 10),
      startedAt: null,
      removedAt: Infinity,
    },
    { what: 'wave today, over', group: 'api', vms: ['api_0', 'api_1'], startedAt: ago(0, -1), spared: ['api_1'] },
    {
      what: 'wave today, VM down',
      group: 'api',
      vms: ['api_2'],
      startedAt: ago(0, 0, -3),
      downMs: Infinity,
      removedAt: Infinity,
    },
    {
      what: 'wave today, to come',
      group: 'api',
      vms: ['api_3'],
      announcedAt: ago(0, 0, -2),
      notBefore: ago(0, 0, 13),
      startedAt: null,
      removedAt: Infinity,
    },
    ...taken.map(
      ({ name, at }): Plan => ({
        what: 'eviction',
        group: 'batch',
        vms: [name],
        type: 'Preempt',
        announcedAt: at - 32 * second,
        notBefore: at - 2 * second,
        startedAt: at - 2 * second,
        downAfterMs: 2 * second,
        removedAt: at + 10 * second,
      }),
    ),
  ];
  return plans.map((plan, index) => eventOf(plan, index, aWhile()));
}

const seconds: Readonly<Record<AzureEvent['type'], number>> = { Freeze: 5, Reboot: -1, Redeploy: -1, Preempt: -1 };

function eventOf(plan: Plan, index: number, usually: Ms): AzureEvent {
  const { group, vms, startedAt, type = 'Reboot', downMs = usually, downAfterMs = 5 * second, spared = [] } = plan;
  const kind: Impact['kind'] = type === 'Freeze' ? 'pause' : type === 'Preempt' ? 'removal' : 'outage';
  const from = (startedAt ?? 0) + downAfterMs;
  const to = kind === 'removal' ? Infinity : from + downMs;
  return {
    id: `E0000${(0x100 + index).toString(16).toUpperCase()}-AAAA-4BBB-8CCC-000000000000`,
    group,
    type,
    source: plan.source ?? 'Platform',
    vms,
    announcedAt: plan.announcedAt === undefined ? (startedAt ?? 0) - 15 * minute : plan.announcedAt,
    notBefore: plan.notBefore === undefined ? startedAt : plan.notBefore,
    startedAt,
    removedAt: plan.removedAt ?? (startedAt ?? 0) + 8 * minute,
    durationSeconds: seconds[type],
    approval: plan.approval ?? null,
    impacts: startedAt === null ? [] : vms.filter((vm) => !spared.includes(vm)).map((vm) => ({ vm, kind, from, to })),
  };
}
