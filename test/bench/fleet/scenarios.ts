import type { Random } from '../../fleet-model/random.ts';

/** What happens to one VM, in ms from the start of the simulation. Every moment is one of Azure; its bridge polls once a second. */
export interface Plan {
  readonly eventType: string;
  readonly announcedAt: number;
  readonly notBefore: number;
  readonly startedAt: number;
  /** Null: the VM is gone before the event ends. */
  readonly endedAt: number | null;
  /** While the VM does not run. */
  readonly down: { readonly from: number; readonly to: number | null } | null;
}

export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** Share of the fleet that it affects. */
  readonly share: number;
  /** How long to simulate, so that what was throttled arrives as well. */
  readonly minutes: number;
  plan(random: Random): Plan;
}

const [second, minute, hour] = [1000, 60_000, 3_600_000];

/** Events of the kinds that Azure announces; notices are the documented ones. https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#event-properties */
export const scenarios: readonly Scenario[] = [
  {
    id: 'rolling',
    title: 'every VM is frozen for 5 s within two hours',
    share: 1,
    minutes: 160,
    plan(random) {
      const announcedAt = random.next() * 2 * hour;
      const notBefore = announcedAt + 15 * minute;
      const startedAt = notBefore + random.next() * minute;
      return { eventType: 'Freeze', announcedAt, notBefore, startedAt, endedAt: startedAt + 5 * second, down: null };
    },
  },
  {
    id: 'zone',
    title: 'a third of the VMs gets a notice within 30 s, and is frozen 15 min later within a minute',
    share: 1 / 3,
    minutes: 45,
    plan(random) {
      const announcedAt = random.next() * 30 * second;
      const notBefore = 15 * minute;
      const startedAt = notBefore + random.next() * minute;
      return { eventType: 'Freeze', announcedAt, notBefore, startedAt, endedAt: startedAt + 10 * second, down: null };
    },
  },
  {
    id: 'reboot',
    title: 'every VM gets a notice within 30 s, reboots 15 min later within a minute, and runs again after 1 to 3 min',
    share: 1,
    minutes: 60,
    plan(random) {
      const announcedAt = random.next() * 30 * second;
      const notBefore = 15 * minute;
      const startedAt = notBefore + random.next() * minute;
      const from = startedAt + 5 * second;
      const to = from + (1 + 2 * random.next()) * minute;
      return { eventType: 'Reboot', announcedAt, notBefore, startedAt, endedAt: to, down: { from, to } };
    },
  },
  {
    id: 'spot',
    title: '30 % of the VMs are evicted within a minute, each 30 s after its notice',
    share: 0.3,
    minutes: 5,
    plan(random) {
      const announcedAt = random.next() * minute;
      const notBefore = announcedAt + 30 * second;
      const down = { from: notBefore, to: null };
      return { eventType: 'Preempt', announcedAt, notBefore, startedAt: notBefore, endedAt: null, down };
    },
  },
];
