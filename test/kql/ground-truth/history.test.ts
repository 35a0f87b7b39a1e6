import { describe, expect, test } from 'vitest';
import { around, differences, openFleet, type Row } from './answers.ts';
import { seeds } from './fleet.ts';
import { isOpen, type Known, lastingOf, reportedIn, sum } from './known.ts';
import { ago, appearedAt, day, hour, impactOn, isCanceled, minute, now, type Span, second } from './truth.ts';

const overlap = (a: Span, b: Span): Span => ({ from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) });

/** What the pack says of what has been, against what truly happened. */
describe.each(seeds)('the history of fleet %i', (seed) => {
  const { fleet, ask } = openFleet(seed);
  const known = reportedIn(fleet);
  const ofMonth = known.filter(({ event }) => event.removedAt > now - 30 * day);
  const setOf = ({ vm }: Known): string => `${vm.resourceGroup} ${vm.location}`;

  test.each(['web_0', 'web_1', 'web_6', 'web_8', 'sql-0', 'sql-1', 'sql-2', 'app-5', 'app-6', 'batch_1'])(
    'vm-history shows the history of %s, and what the VM observed',
    (name) => {
      const rows = ofMonth
        .filter(({ vm }) => vm.name === name)
        .map((each): Row => {
          const { event, vm, firstSeenAt, isStartSeen, outageSeconds, pausedSeconds } = each;
          const isOver = each.isOver && !isCanceled(event);
          return {
            EventId: event.id,
            EventType: event.type,
            Location: vm.location,
            FirstSeenAt: firstSeenAt === null ? around(appearedAt(event)) : around(firstSeenAt, 1500),
            StartedAt: isStartSeen ? around(event.startedAt ?? 0) : around(event.startedAt ?? 0, 3 * minute),
            Outcome: isCanceled(event) ? 'Canceled' : isOver ? { among: ['Completed', 'Ended'] } : null,
            Impact:
              outageSeconds !== null
                ? `down ${Math.round(outageSeconds)} s`
                : pausedSeconds !== null
                  ? `paused ${pausedSeconds.toFixed(1)} s`
                  : isOpen(each)
                    ? 'not over'
                    : each.isPresumedEnded
                      ? 'end not seen'
                      : isCanceled(event)
                        ? null
                        : 'none measured',
            ...(each.isStartReported ? {} : { StartedAt: null }),
          };
        });
      expect(rows.length).toBeGreaterThan(0);
      expect(differences(ask('vm-history', ['"web_11"', `"${name.toUpperCase()}"`]), rows)).toEqual([]);
    },
  );

  test.each([
    ['the last hour', now, hour],
    ['the last half hour', now, hour / 2],
    ['the wave of three weeks ago', ago(20, 0, 30), 45 * minute],
    ['a quarter of an hour in which two fault domains were down', ago(9, 0, 14), 10 * minute],
    ['the day on which hosts failed early', ago(3, 3), 12 * hour],
    ['a day on which one bridge had lost its state', ago(10, 12), day],
    ['the time in which a VM was cut off from the network', ago(15), 3 * day],
  ])('touched-between lists the VMs that Azure touched in %s', (_, to, lasts) => {
    const window: Span = { from: to - lasts, to };
    const touched = known.filter((each) => {
      const span = lastingOf(each, now);
      return span !== null && overlap(span, window).from <= overlap(span, window).to;
    });
    const groups = Map.groupBy(touched, (each) => `${each.event.type} ${each.event.source} ${setOf(each)}`);
    const rows = [...groups.values()].map((group): Row => {
      const outages = group.flatMap(({ outageSeconds }) => outageSeconds ?? []);
      return {
        EventType: group[0]?.event.type ?? '',
        EventSource: group[0]?.event.source ?? '',
        Location: group[0]?.vm.location ?? '',
        ResourceGroup: group[0]?.vm.resourceGroup ?? '',
        Vms: group.length,
        Down: outages.length,
        LongestDownSeconds: outages.length === 0 ? null : around(Math.max(...outages), 0.01),
        Paused: group.filter(({ pausedSeconds }) => pausedSeconds !== null).length,
        Names: [...new Set(group.map(({ vm }) => vm.name))].sort(),
      };
    });
    const stamp = (at: number): string => `datetime(${new Date(at).toISOString()})`;
    const edits = [
      ['let From = ago(1h)', `let From = ${stamp(window.from)}`],
      ['let Until = now()', `let Until = ${stamp(window.to)}`],
    ] as const;
    expect(rows.length).toBeGreaterThan(0);
    expect(differences(ask('touched-between', ...edits), rows)).toEqual([]);
  });

  test('downtime-by-set sums the downtime and pauses of VMs, and compares them with the time that they existed', () => {
    const month = { from: now - 30 * day, to: now };
    const groups = Map.groupBy(
      ofMonth.filter(({ outageSeconds, pausedSeconds }) => outageSeconds !== null || pausedSeconds !== null),
      (each) => `${setOf(each)} ${each.vm.scaleSet}`,
    );
    const rows = [...groups.values()].map((group): Row => {
      const [{ vm }] = group as [Known];
      const members = fleet.vms.filter(
        (other) =>
          other.resourceGroup === vm.resourceGroup && other.scaleSet === vm.scaleSet && other.lifetime.to > month.from,
      );
      const existed = sum(members.map(({ lifetime }) => overlap(lifetime, month).to - overlap(lifetime, month).from));
      // What truly happened, not what was measured: polls are a second apart on both sides.
      const downMs = sum(
        group.map((each) => {
          const impact = each.event.impacts.find(({ vm: name }) => name === each.vm.name);
          return impact ? impact.to - impact.from : 0;
        }),
      );
      const reboots = group.filter(({ outageSeconds }) => outageSeconds !== null);
      return {
        VmScaleSetName: vm.scaleSet,
        Location: vm.location,
        Vms: members.length,
        Interruptions: group.length,
        Reboots: reboots.length,
        DownMinutes: around(downMs / minute, 0.06 + (2 * reboots.length) / 60),
        AvailabilityPercent: around(100 * (1 - downMs / existed), 0.002),
      };
    });
    expect(rows).toHaveLength(5);
    expect(differences(ask('downtime-by-set'), rows)).toEqual([]);
  });

  test('region-by-hour adds up the same by the hour in which it began', () => {
    const measured = ofMonth.filter(
      ({ outageSeconds, pausedSeconds }) => outageSeconds !== null || pausedSeconds !== null,
    );
    const hourOf = ({ event, vm }: Known): number => new Date(impactOn(event, vm)?.from ?? 0).getUTCHours();
    const groups = Map.groupBy(measured, (each) => `${each.vm.location} ${hourOf(each)}`);
    const rows = [...groups.values()].map((group): Row => {
      const [first] = group as [Known];
      const seconds = group.map(({ event, vm }) => {
        const { from = 0, to = 0 } = impactOn(event, vm) ?? {};
        return (to - from) / second;
      });
      return {
        Location: first.vm.location,
        Hour: hourOf(first),
        Interruptions: group.length,
        Seconds: around(sum(seconds), 1 + 2 * group.length),
        LongestSeconds: around(Math.max(...seconds), 3),
      };
    });
    expect(rows.length).toBeGreaterThan(8);
    expect(differences(ask('region-by-hour'), rows)).toEqual([]);
  });

  test('spot-survival counts evictions for a hundred days of every Spot VM, also of those never evicted', () => {
    const spot = fleet.vms.filter(({ isSpot, lifetime }) => isSpot && lifetime.to > now - 30 * day);
    const days = sum(
      spot.map(({ lifetime }) => (Math.min(lifetime.to, now) - Math.max(lifetime.from, now - 30 * day)) / day),
    );
    const evictions = fleet.events.filter(({ type }) => type === 'Preempt').length;
    const row: Row = {
      VmScaleSetName: 'batch',
      Vms: spot.length,
      Evictions: evictions,
      VmDays: around(days, spot.length / 24),
      Per100VmDays: around((100 * evictions) / days, 0.1),
    };
    expect(evictions).toBe(5);
    expect(differences(ask('spot-survival'), [row])).toEqual([]);
  });

  test('approvals shows the answer, when the event began, and how much earlier than announced', () => {
    const rows = fleet.events.flatMap(({ id, approval, notBefore, startedAt, vms }): Row[] => {
      if (approval === null) return [];
      const saved = ((notBefore ?? 0) - (startedAt ?? 0)) / minute;
      return [
        {
          EventId: id,
          ApprovedBy: approval.by,
          Vms: vms,
          Result: approval.result,
          ApprovedAt: around(approval.at, 1000),
          BeganAt: around(startedAt ?? 0),
          SavedMinutes: approval.result === 'accepted' ? around(saved, 0.1) : null,
          Outcome: 'Completed',
        },
      ];
    });
    expect(rows).toHaveLength(4);
    expect(differences(ask('approvals'), rows)).toEqual([]);
  });

  test('support-case shows every sighting of an event, by Azure’s clock', () => {
    const [event] = fleet.events.filter(({ vms }) => vms.includes('app-2'));
    const steps = ask('support-case', ['let Event = ""', `let Event = "${event?.id}"`]);
    const skewed = steps.filter(({ VmName }) => VmName === 'app-2');
    expect(skewed.map(({ Phase }) => Phase)).toEqual(['Scheduled', 'Started', 'Completed']);
    const times = [event?.announcedAt, event?.startedAt, event?.removedAt].map((at) => at ?? 0);
    for (const [index, { Utc }] of skewed.entries()) {
      expect(Math.abs(Date.parse(`${String(Utc).replace(' ', 'T')}Z`) - (times[index] ?? 0))).toBeLessThan(3000);
    }
    // Three that it names, and a witness.
    expect(new Set(steps.map(({ VmName }) => VmName))).toEqual(new Set(['app-0', 'app-1', 'app-2', 'app-9']));
  });
});
