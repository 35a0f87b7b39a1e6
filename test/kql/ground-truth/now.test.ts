import { describe, expect, test } from 'vitest';
import { around, differences, openFleet, type Row } from './answers.ts';
import { seeds } from './fleet.ts';
import { isOpen, type Known, reportedIn } from './known.ts';
import { runningOf } from './sightings.ts';
import { day, hour, minute } from './truth.ts';

/** What the pack says of current and coming events, against what truly happened. */
describe.each(seeds)('the events in progress in fleet %i', (seed) => {
  const { fleet, ask } = openFleet(seed);
  const { now } = fleet;
  const known = reportedIn(fleet);
  const of = ({ event, vm }: Known): Row => ({ EventId: event.id, VmName: vm.name, Location: vm.location });
  const dueAt = ({ event, isStartReported }: Known): number =>
    (isStartReported ? event.startedAt : event.notBefore) ?? Infinity;

  test('not-back finds the VMs that Azure took down and that are not back, regardless of the observer, and no other', () => {
    const gone = known.filter(({ event, vm }) =>
      event.impacts.some(
        ({ vm: name, kind, from, to }) =>
          name === vm.name && kind === 'outage' && to === Infinity && from < now - 10 * minute,
      ),
    );
    const rows = gone.map((each): Row => {
      const isEarly = dueAt(each) > now;
      const downAt = each.event.impacts[0]?.from ?? 0;
      return {
        ...of(each),
        Reason: isEarly
          ? 'silent before the announced time'
          : each.isStartReported
            ? 'started'
            : 'down at the announced time',
        SilentSince: isEarly ? around(downAt - hour / 2, hour / 2 + 5000) : around(dueAt(each)),
      };
    });
    expect(rows).toHaveLength(3);
    expect(differences(ask('not-back'), rows)).toEqual([]);
  });

  test('stuck finds what began, or was due, over half an hour ago and is listed still', () => {
    const rows = known
      .filter((each) => isOpen(each) && dueAt(each) < now - 30 * minute)
      .map((each): Row => {
        const isBack = runningOf(fleet, each.vm).some(({ from, to }) => from > dueAt(each) && to > now);
        return { ...of(each), Stage: each.isStartReported ? 'started' : 'due', IsHeardSince: isBack };
      });
    expect(rows.map(({ Stage }) => Stage).sort()).toEqual(['due', 'started']);
    expect(differences(ask('stuck'), rows)).toEqual([]);
  });

  test('in-progress shows started events, and those due without an observed start', () => {
    const rows = known
      .filter((each) => isOpen(each) && dueAt(each) < now)
      .map((each): Row => ({ ...of(each), Stage: each.isStartReported ? 'started' : 'due', EndedAt: null }));
    expect(rows).toHaveLength(3);
    expect(differences(ask('in-progress'), rows)).toEqual([]);
  });

  test('upcoming lists events without an observed start', () => {
    const rows = known
      .filter((each) => isOpen(each) && !each.isStartReported)
      .map((each): Row => ({ ...of(each), NotBefore: around(each.event.notBefore ?? 0, 0) }));
    expect(rows.length).toBeGreaterThan(4);
    expect(differences(ask('upcoming'), rows)).toEqual([]);
  });

  test('due-in-order lists what was announced long ago and is due within two days', () => {
    const rows = known
      .filter((each) => isOpen(each) && !each.isStartReported)
      .filter(({ event: { notBefore, announcedAt } }) => {
        const due = notBefore ?? Infinity;
        return due > now && due < now + 2 * day && due - (announcedAt ?? due) > hour;
      })
      .map((each): Row => {
        const { notBefore, announcedAt, type } = each.event;
        return {
          ...of(each),
          EventType: type,
          NotBefore: around(notBefore ?? 0, 0),
          AnnouncedDaysAgo: around((now - (announcedAt ?? 0)) / day, 0.06),
          Owner: each.vm.owner,
        };
      });
    expect(rows).toHaveLength(2);
    expect(differences(ask('due-in-order'), rows)).toEqual([]);
    expect(ask('due-in-order').map(({ VmName }) => VmName)).toEqual(['web_5', 'app-4']);
  });

  test('wave-progress counts each VM of a set once, as done, in progress or to come', () => {
    const inWaves = known.filter(
      ({ event, vm }) =>
        event.source === 'Platform' && ['Reboot', 'Redeploy'].includes(event.type) && vm.scaleSet !== null,
    );
    const recent = inWaves.filter((each) => !each.isOver || each.event.removedAt > now - 3 * day);
    const waves = Map.groupBy(recent, ({ event, vm }) => `${vm.group} ${event.type}`);
    const rows = [...waves.values()].flatMap((wave): Row[] => {
      const vms = Map.groupBy(wave, ({ vm }) => vm);
      const [first] = wave;
      if (vms.size < 2 || first === undefined) return [];
      const latest = [...vms.values()].flatMap((each) => each.at(-1) ?? []);
      const goesOn = latest.filter((each) => !each.isOver && dueAt(each) < now);
      const others = fleet.vms.filter(
        (vm) => vm.group === first.vm.group && vm.lifetime.to > now - 6 * hour && !vms.has(vm),
      );
      const Done = latest.filter(({ isOver }) => isOver).length;
      return [
        {
          VmScaleSetName: first.vm.scaleSet,
          Location: first.vm.location,
          EventType: first.event.type,
          OfVms: latest.length + others.length,
          Done,
          Now: goesOn.length,
          ToCome: latest.length - Done - goesOn.length,
          NotAnnounced: others.length,
          FaultDomains: [...new Set(goesOn.map(({ vm }) => vm.faultDomain ?? ''))].sort(),
        },
      ];
    });
    expect(rows).toContainEqual(
      expect.objectContaining({ VmScaleSetName: 'api', OfVms: 6, Done: 2, Now: 1, ToCome: 1 }),
    );
    expect(differences(ask('wave-progress'), rows)).toEqual([]);
  });
});
