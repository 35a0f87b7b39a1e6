import { describe, expect, test } from 'vitest';
import { around, differences, openFleet, type Row } from './answers.ts';
import { seeds } from './fleet.ts';
import { type Known, reportedIn, sum } from './known.ts';
import { type AzureEvent, day, impactOn, minute, second } from './truth.ts';

/** https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#event-scheduling */
const documented: Readonly<Record<AzureEvent['type'], number>> = {
  Freeze: 15 * minute,
  Reboot: 15 * minute,
  Redeploy: 10 * minute,
  Preempt: 30 * second,
};

/** What the pack says of warnings, and of what was down together, against what truly happened. */
describe.each(seeds)('the notice of the events of fleet %i', (seed) => {
  const { fleet, ask } = openFleet(seed);
  const { now } = fleet;
  const began = reportedIn(fleet).filter(({ beganAt, isStartReported }) => beganAt !== null || isStartReported);
  const inLast = (days: number): readonly Known[] => began.filter(({ event }) => event.removedAt > now - days * day);
  const isApproved = ({ approval }: AzureEvent): boolean => approval?.result === 'accepted';
  const isEarly = ({ event }: Known): boolean =>
    !isApproved(event) && (event.startedAt ?? 0) < (event.notBefore ?? 0) - 5 * minute;
  const isLate = ({ event: { announcedAt, startedAt, type } }: Known): boolean =>
    announcedAt !== null && (startedAt ?? 0) - announcedAt < documented[type] - 5 * second;

  test('no-notice finds what was not announced, and hosts that failed before their announced day', () => {
    const rows = inLast(14)
      .filter((each) => each.event.announcedAt === null || (isEarly(each) && each.event.source === 'Platform'))
      .map(
        (each): Row => ({
          EventId: each.event.id,
          VmName: each.vm.name,
          Reason: isEarly(each) ? 'before its time' : 'not announced',
          BeganAt: around(impactOn(each.event, each.vm)?.from ?? 0, 6 * second),
        }),
      );
    expect(rows).toHaveLength(6);
    expect(differences(ask('no-notice'), rows)).toEqual([]);
  });

  test('notice-below-minimum finds events announced late or started early, and none that a bridge approved', () => {
    const rows = inLast(30)
      .filter((each) => !isApproved(each.event) && (isEarly(each) || isLate(each)))
      .map(
        (each): Row => ({
          EventId: each.event.id,
          VmName: each.vm.name,
          EarlySeconds: isEarly(each)
            ? around(((each.event.notBefore ?? 0) - (each.event.startedAt ?? 0)) / second, 4)
            : null,
          Because: isEarly(each) ? 'began before NotBefore: the host failed, or someone approved it' : 'announced late',
        }),
      );
    expect(rows).toHaveLength(5);
    expect(differences(ask('notice-below-minimum'), rows)).toEqual([]);
  });

  test('notice-given counts what our bridges approved apart', () => {
    const reported = inLast(30).filter(({ isStartReported }) => isStartReported);
    const groups = Map.groupBy(reported, ({ event }) => `${event.type} ${event.source}`);
    const rows = [...groups.values()].map((group): Row => {
      const own = group.filter(({ event }) => !isApproved(event));
      return {
        EventType: group[0]?.event.type ?? '',
        EventSource: group[0]?.event.source ?? '',
        Vms: group.length,
        Approved: group.length - own.length,
        Early: own.filter(isEarly).length,
        BelowMinimum: own.filter(isLate).length,
      };
    });
    expect(sum(rows.map(({ Approved }) => Number(Approved)))).toBe(3);
    expect(differences(ask('notice-given'), rows)).toEqual([]);
  });

  test('two-fault-domains-at-once finds VMs that were down at the same time, and no others', () => {
    const outages = inLast(14).flatMap((each) => {
      const impact = impactOn(each.event, each.vm);
      const isDown = impact?.kind === 'outage' && each.vm.scaleSet !== null;
      return isDown ? [{ ...each.vm, from: impact.from, to: Math.min(impact.to, now) }] : [];
    });
    const pairs = outages.flatMap((one) =>
      outages
        .filter((other) => other.group === one.group && Number(one.faultDomain) < Number(other.faultDomain))
        .filter((other) => one.from < other.to && other.from < one.to)
        .map(
          (other): Row => ({
            ResourceGroup: one.resourceGroup,
            FaultDomains: `${one.faultDomain} and ${other.faultDomain}`,
            OneDomain: [one.name],
            OtherDomain: [other.name],
            From: around(Math.max(one.from, other.from), 8 * second),
            Until: around(Math.min(one.to, other.to), 8 * second),
          }),
        ),
    );
    expect(pairs).toHaveLength(4);
    expect(differences(ask('two-fault-domains-at-once'), pairs)).toEqual([]);
  });

  test('blast-radius compares with the VMs that the set had then, and knows no size of an availability set', () => {
    const events = Map.groupBy(inLast(14), ({ event }) => event);
    const rows = [...events]
      .filter(([, vms]) => vms.length > 1)
      .map(([event, vms]): Row => {
        const { group, scaleSet } = (vms[0] as Known).vm;
        const at = event.startedAt ?? 0;
        const members = fleet.vms.filter((vm) => vm.group === group && vm.lifetime.from < at && vm.lifetime.to > at);
        return {
          EventId: event.id.toLowerCase(),
          Vms: vms.length,
          OfVms: scaleSet === null ? null : members.length,
          SharePercent: scaleSet === null ? null : Math.round((100 * vms.length) / members.length),
          Names: vms.map(({ vm }) => vm.name).sort(),
        };
      });
    expect(rows).toHaveLength(3);
    expect(differences(ask('blast-radius'), rows)).toEqual([]);
  });
});
