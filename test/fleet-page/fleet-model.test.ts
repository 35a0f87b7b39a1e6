import { expect, test } from 'vitest';
import { FleetModel } from '../../src/fleet-page/fleet-model.ts';
import { parseQuery } from '../../src/fleet-page/query.ts';
import { wave } from '../support/fleet-rows/wave.ts';
import { answer, at, now, smallFleetRecords, viewOf } from './small-fleet.ts';

/** Seconds: the timeline says that the wave of `web` begins at two o'clock. */
const hour = 3600;
const waveAt = 2 * hour;
/** A VM polls every second, and writes what it measured in tenths. */
const pollMs = 2500;
const near = (value: number | null | undefined, expected: number): boolean =>
  value !== null && value !== undefined && Math.abs(value - expected) <= pollMs;

const records = smallFleetRecords();
const fleet = viewOf(records);
const everything = answer('', fleet);

test('each VM of a wave has a lane with the times of the timeline', () => {
  const rows = everything.swimlanes.rows.filter(({ set }) => set === 'shop-web/web');
  expect(rows.length).toBe(48);
  for (const { name, lanes } of rows) {
    const number = Number(name.slice('web_'.length));
    const [domain, place] = [number % wave.domains, Math.floor(number / wave.domains)];
    const announcedAt = at(waveAt + domain * wave.everySeconds);
    const startedAt = announcedAt + 1000 * wave.noticeSeconds;
    const [lane] = lanes;
    expect(lanes, name).toHaveLength(1);
    expect(near(lane?.announcedAt, announcedAt), `${name} announced`).toBe(true);
    expect(near(lane?.startedAt, startedAt), `${name} started`).toBe(true);
    expect(near(lane?.notBefore, startedAt), `${name} not before`).toBe(true);
    if (domain < 3) {
      expect(near(lane?.overAt, startedAt + 1000 * wave.workSeconds), `${name} over`).toBe(true);
      expect(lane?.outcome).toBe('Completed');
      const [begin = 0, end = 0] = lane?.down ?? [];
      expect(near(end - begin, 1000 * wave.restartSeconds(place)), `${name} down ${end - begin}`).toBe(true);
      expect(begin).toBe(lane?.startedAt);
    } else {
      // It restarts now: no VM can report yet for how long.
      expect(lane).toMatchObject({ overAt: null, outcome: null, down: null });
    }
  }
});

test('lanes stand by scale set and fault domain, VMs without a set last', () => {
  const { rows } = everything.swimlanes;
  expect([...new Set(rows.map(({ set }) => set))]).toEqual(['shop-api/api', 'shop-batch/batch', 'shop-web/web', null]);
  const places = rows.filter(({ set }) => set === 'shop-web/web').map(({ place }) => place);
  expect(places).toEqual([...places].sort());
  expect([...new Set(places)]).toEqual(['1/0', '1/1', '1/2', '1/3']);
});

test('open events are listed with the state and the words of the workbook', () => {
  const rows = everything.open.rows.map(({ eventType, state, vms, vmCount }) => [eventType, state, vms[0], vmCount]);
  expect(rows).toEqual([
    ['Redeploy', 'stuck', 'batch_6', 1],
    ['Reboot', 'in progress', 'web_3', 12],
    ['Preempt', 'within the hour', 'batch_3', 1],
    ['Freeze', 'within the hour', 'api_11', 1],
    ['Freeze', 'announced', 'dev-30', 1],
    ['Reboot', 'announced', 'api_0', 3],
    ['Redeploy', 'announced', 'sql-1', 1],
    ['Reboot', 'announced', 'sql-2', 1],
  ]);
});

test('tiles count VMs, not events', () => {
  expect(everything.tiles.map(({ name, vms }) => [name, vms])).toEqual([
    ['In the next hour', 2],
    ['Announced', 8],
    ['In progress', 12],
    ['Stuck', 1],
  ]);
});

test('a Terminate whose VM is gone is presumed to have ended, without an outcome', () => {
  const sap = everything.past.rows.find(({ vms }) => vms[0] === 'sap-1');
  expect(sap).toMatchObject({ eventType: 'Terminate', outcome: null, downSeconds: null });
  // Ten minutes after it was due.
  expect(near(sap?.endedAt, at(waveAt + 25 * 60))).toBe(true);
});

test('an event that ended shows what its VMs measured, and a canceled one nothing', () => {
  const past = new Map(everything.past.rows.map((row) => [row.vms[0], row]));
  expect(past.get('web_0')).toMatchObject({ outcome: 'Completed', vmCount: 12, pausedMs: null });
  expect(Math.abs((past.get('web_0')?.downSeconds?.value ?? 0) - 150)).toBeLessThanOrEqual(2.5);
  expect(past.get('api_2')).toMatchObject({
    eventType: 'Freeze',
    outcome: 'Completed',
    downSeconds: null,
    pausedMs: { value: 6000, isAmbiguous: false },
  });
  expect(past.get('api_4')).toMatchObject({ outcome: 'Canceled', startedAt: null, downSeconds: null, pausedMs: null });
});

test('the calendar has announced events by day and scale set', () => {
  const { columns, rows } = everything.calendar;
  const texts = rows.map(({ name, cells }) => [
    name,
    ...cells.flatMap((entries, index) => entries.map(({ time, label }) => `${columns[index]}: ${time} ${label}`)),
  ]);
  expect(columns).toEqual(['Due', 'Today', 'Tomorrow', '11-22', '11-23', '11-24', '11-25', '11-26', 'Later']);
  expect(texts).toEqual([
    ['batch', 'Today: 04:02 Preempt'],
    ['api', 'Today: 04:11 Freeze', '11-22: 06:36 Reboot × 3'],
    ['dev-30', 'Today: 11:42 Freeze'],
    ['sql-1', '11-22: 08:12 Redeploy'],
    ['sql-2', '11-24: 09:08 Reboot'],
  ]);
});

test('filters by event, scale set, tag and a part of the name keep only lanes that fit', () => {
  const names = (search: string): string[] =>
    answer(search, fleet)
      .swimlanes.rows.map(({ name }) => name)
      .sort();
  expect(names('type=Freeze')).toEqual(['api_11', 'api_2', 'api_7', 'dev-30']);
  expect(names('set=shop-batch/batch')).toEqual(['batch_3', 'batch_6']);
  expect(names('tag=owner:data-team')).toEqual(['batch_3', 'batch_6', 'dev-30', 'sap-1', 'sql-1', 'sql-2']);
  expect(names('vm=WEB_1&type=Reboot')).toEqual([
    'web_1',
    'web_10',
    'web_11',
    'web_12',
    'web_13',
    'web_15',
    'web_16',
    'web_17',
    'web_18',
  ]);
  expect(names('set=nobody')).toEqual([]);
  expect(everything.choices).toEqual({
    types: ['Freeze', 'Preempt', 'Reboot', 'Redeploy', 'Terminate'],
    sets: ['shop-api/api', 'shop-batch/batch', 'shop-web/web'],
    tags: ['environment:production', 'owner:api-team', 'owner:data-team', 'owner:web-team'],
  });
});

test('a time in the past shows the events of that time only', () => {
  const early = answer(`window=1h&until=${new Date(at(waveAt + 3 * 60)).toISOString()}`, fleet);
  expect(early.swimlanes).toMatchObject({ from: at(hour + 3 * 60), to: at(waveAt + 3 * 60) });
  const names = new Set(early.swimlanes.rows.map(({ name }) => name.replace(/_.*/, '')));
  expect([...names].sort()).toEqual(['api', 'sap-1', 'sql-1', 'sql-2', 'web']);
  // What is upcoming is upcoming, whatever is looked at.
  expect(early.open.total).toBe(everything.open.total);
});

test('VMs that were down at once are counted as in the timeline, by set, zone and fault domain', () => {
  const capacity = new Map(
    everything.capacity.map(({ by, groups }) => [by, new Map(groups.map((group) => [group.name, group]))]),
  );
  expect(capacity.get('Scale set')?.get('web')).toMatchObject({
    // Those of the fifth domain are known only if they are witnesses.
    knownVms: expect.toSatisfy((vms: number) => vms >= 48 && vms < 60),
    down: { most: 12 },
    inProgress: { most: 12 },
  });
  expect(capacity.get('Zone')?.get('westeurope, zone 1')?.down.most).toBe(12);
  for (const domain of [0, 1, 2]) {
    const group = capacity.get('Fault domain')?.get(`web, 1/${domain}`);
    expect(group).toMatchObject({ knownVms: 12, down: { most: 12 } });
    const startsAt = at(waveAt + domain * wave.everySeconds + wave.noticeSeconds);
    // After 100 seconds, those of the places 0 (70 s) and 1 (95 s) are back.
    const later = startsAt + 105_000;
    const vms = group?.down.steps.findLast(([since]) => since <= later)?.[1];
    expect(vms).toBe(6);
    expect(near(group?.down.mostAt, startsAt)).toBe(true);
  }
  // A VM cannot report while it restarts, but Azure is at work.
  expect(capacity.get('Fault domain')?.get('web, 1/3')).toMatchObject({ down: { most: 0 }, inProgress: { most: 12 } });
});

test('a group with more steps than a chart has columns keeps its highest values', () => {
  const wide = answer('window=14d', fleet);
  expect(wide.capacity[0]?.groups.find(({ name }) => name === 'web')?.down.most).toBe(12);
});

test('records in any order and copies give the same answer', () => {
  const shuffled = [...records, ...records.slice(0, 50)].reverse();
  expect(answer('', viewOf(shuffled))).toEqual(everything);
});

test('a record that arrives is shown after the model was notified, and only its event is folded again', () => {
  const view = viewOf(records.slice(0, -1));
  const model = new FleetModel(view);
  const query = parseQuery(new URLSearchParams());
  const before = model.view(query, now);
  for (const record of records.slice(-1)) view.add(record);
  expect(model.view(query, now)).toEqual(before);
  model.changed();
  expect(model.view(query, now)).toEqual(everything);
});

test('the trace of an event has its steps, their evidence, and what each VM reported', () => {
  const model = new FleetModel(fleet);
  const id = everything.past.rows.find(({ vms }) => vms[0] === 'web_0')?.eventId ?? '';
  const trace = model.trace(id.toUpperCase(), now);
  expect(trace?.steps.map(({ phase, isEnd }) => [phase, isEnd])).toEqual([
    ['Scheduled', false],
    ['Started', false],
    ['Completed', true],
  ]);
  expect(trace?.outcome).toMatch(/^Completed: .*left-after-started/);
  const affected = trace?.views.rows.filter(({ role }) => role === 'affected') ?? [];
  expect(affected).toHaveLength(12);
  for (const { vm, downSeconds, evidence } of affected) {
    const place = Math.floor(Number(vm.slice('web_'.length)) / wave.domains);
    expect(Math.abs((downSeconds ?? 0) - wave.restartSeconds(place)), vm).toBeLessThanOrEqual(2.5);
    expect(evidence, vm).toContain('left-after-started');
  }
  const witnesses = trace?.views.rows.filter(({ role }) => role === 'witness') ?? [];
  for (const { downSeconds } of witnesses) expect(downSeconds).toBeNull();
  expect(model.trace('no such event', now)).toBeNull();
});

test('the trace of an event that is open or presumed says so', () => {
  const model = new FleetModel(fleet);
  const outcomeOf = (vm: string): string | undefined => {
    const rows = [...everything.open.rows, ...everything.past.rows];
    return model.trace(rows.find(({ vms }) => vms[0] === vm)?.eventId ?? '', now)?.outcome;
  };
  expect(outcomeOf('web_3')).toBe('Open: Azure has started');
  expect(outcomeOf('sql-1')).toBe('Open: announced, not started');
  expect(outcomeOf('sap-1')).toMatch(/^Presumed to have ended: .* No end was reported\.$/);
});
