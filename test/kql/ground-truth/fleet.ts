import { runs } from '../../support/runs.ts';
import { plannedEvents } from './planned-events.ts';
import {
  type AzureEvent,
  ago,
  day,
  type Fleet,
  hour,
  type Ms,
  minute,
  now,
  randomOf,
  type Span,
  second,
  type Vm,
} from './truth.ts';

/** Of the fleets that tests ask about, each with the same tests. */
export const seeds: readonly number[] = Array.from(
  { length: runs('fleets with true answers', { quick: 1, full: 3 }) },
  (_, n) => n + 1,
);

/** The fleet is observed from then on: longer than the lookback of queries. */
const begin: Ms = now - 34 * day;

const production = '11111111-aaaa-4bbb-8ccc-000000000001';
const analysis = '22222222-aaaa-4bbb-8ccc-000000000002';

/** A GUID that is the same in every run. */
export const guid = (part: number, number: number): string =>
  `${part.toString(16).padStart(8, '0')}-aaaa-4bbb-8ccc-${number.toString(16).padStart(12, '0')}`;

type Traits = Pick<Vm, 'subscriptionId' | 'resourceGroup' | 'location' | 'scaleSet' | 'group' | 'size'> & Partial<Vm>;

const vm = (name: string, number: number, traits: Traits): Vm => ({
  name,
  vmId: guid([...traits.group].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), 7) % 0x7fffffff, number),
  zone: null,
  faultDomain: null,
  isSpot: false,
  owner: null,
  lifetime: { from: begin, to: Infinity },
  clockErrorMs: 0,
  isWitness: false,
  versions: [{ at: begin, version: '1.0.0' }],
  stateLostAt: null,
  unwatched: [],
  cutOff: null,
  reportsStop: false,
  testedAt: null,
  hasAgent: false,
  ...traits,
});

/** Two sets of one name in two regions, and their VMs have the same names. */
const web = { scaleSet: 'web', size: 'Standard_D4s_v5', subscriptionId: production, owner: 'web-team' };
const webWest = { ...web, group: 'web-west', resourceGroup: 'shop-west', location: 'westeurope' };
const webNorth = { ...web, group: 'web-north', resourceGroup: 'shop-north', location: 'northeurope' };
const api = { ...webWest, group: 'api', scaleSet: 'api', resourceGroup: 'shop-api', size: 'Standard_E8s_v5' };
/** An availability set: VMs without a scale set that are shown each other's events. */
const app = { ...webWest, group: 'app', scaleSet: null, resourceGroup: 'office', owner: null };
const sql = { ...app, group: 'sql', size: 'Standard_E16s_v5', hasAgent: true };
const batch = {
  subscriptionId: analysis,
  group: 'batch',
  resourceGroup: 'analysis',
  location: 'northeurope',
  scaleSet: 'batch',
  size: 'Standard_D8s_v5',
  isSpot: true,
  zone: '1',
};

/** What is particular to a VM, by group and name. */
const particular: Readonly<Record<string, Partial<Vm>>> = {
  'web-west web_6': { stateLostAt: ago(5, 0, 10) },
  'web-west web_0': { testedAt: ago(0, -2) },
  'web-west web_9': { isWitness: true },
  'web-north web_4': { cutOff: { from: ago(18), to: ago(15) } },
  'web-north web_5': { clockErrorMs: 300 * second },
  'web-north web_6': { hasAgent: true, clockErrorMs: 400 * second },
  // Deleted before an event takes three of its set, and before a reboot of the week before could be missed.
  'web-north web_7': { lifetime: { from: begin, to: now - 10 * day } },
  'web-north web_8': { lifetime: { from: now - 5 * day, to: Infinity } },
  'web-north web_9': { lifetime: { from: begin, to: now - day }, reportsStop: true },
  'app app-2': { clockErrorMs: -240 * second },
  // Its bridge does not start again after a reboot, but the VM does.
  'app app-3': { hasAgent: true, unwatched: [{ from: ago(0, -5), to: Infinity }] },
  'app app-9': { isWitness: true },
  'sql-1 sql-1': { clockErrorMs: 40 * second },
  'sql-2 sql-2': {
    reportsStop: true,
    stateLostAt: ago(10, 0, 40),
    unwatched: [{ from: ago(10, 0, 5), to: ago(10, 0, 40) }],
  },
};

const many = (traits: Traits, name: (number: number) => string, count: number, domains: number): Vm[] =>
  Array.from({ length: count }, (_, number) =>
    vm(name(number), number, {
      ...traits,
      faultDomain: String(number % domains),
      ...particular[`${traits.group} ${name(number)}`],
    }),
  );

/** Spot VMs: each one that is taken is replaced ten minutes later by another one. */
function spotVms(): { readonly vms: Vm[]; readonly taken: readonly { readonly name: string; readonly at: Ms }[] } {
  const evictions = [25, 19, 12.4, 6, 2].map((days) => ago(days, 3));
  const taken = evictions.map((at, number) => ({ name: `batch_${number}`, at }));
  const lifetimes: Span[] = [
    ...evictions.map((at, number) => ({
      from: number < 3 ? begin : (evictions[number - 3] ?? 0) + 10 * minute,
      to: at,
    })),
    ...evictions.slice(2).map((at) => ({ from: at + 10 * minute, to: Infinity })),
    { from: begin, to: Infinity },
  ];
  return { vms: lifetimes.map((lifetime, number) => vm(`batch_${number}`, number, { ...batch, lifetime })), taken };
}

/** The fleet of a seed: the same planned events in each; other freezes and all durations are random. */
export function fleetOf(seed: number): Fleet {
  const random = randomOf(seed);
  const spot = spotVms();
  const upgraded = ago(6, 0, 5);
  const vms = [
    ...many(webWest, (number) => `web_${number}`, 10, 5).map((each) => ({
      ...each,
      versions: [...each.versions, { at: upgraded, version: '1.1.0' }],
    })),
    ...many(webNorth, (number) => `web_${number}`, 10, 5),
    ...many(api, (number) => `api_${number}`, 6, 3),
    ...many(app, (number) => `app-${number}`, 10, 2),
    ...[0, 1, 2].flatMap((number) => many({ ...sql, group: `sql-${number}` }, () => `sql-${number}`, 1, 1)),
    ...spot.vms,
  ];
  const planned = plannedEvents(random, spot.taken);
  return { now, vms, events: [...planned, ...freezesBetween(vms, planned, random)] };
}

/** Freezes on VMs to which nothing else happens for three hours before and after. */
function freezesBetween(
  vms: readonly Vm[],
  planned: readonly AzureEvent[],
  random: (bound: number) => number,
): AzureEvent[] {
  const freezes: AzureEvent[] = [];
  for (let number = 0; number < 40; number += 1) {
    const { group, name, lifetime, unwatched, stateLostAt } = vms[random(vms.length)] as Vm;
    const announcedAt = now - 30 * day + random(28 * 24 * 60) * minute + random(60) * second;
    const around = { from: announcedAt - 3 * hour, to: announcedAt + 3 * hour };
    const meets = ({ from, to }: Span): boolean => from < around.to && to > around.from;
    const isBusy =
      around.from < lifetime.from ||
      around.to > lifetime.to ||
      unwatched.some(meets) ||
      (stateLostAt !== null && meets({ from: stateLostAt, to: stateLostAt })) ||
      [...planned, ...freezes].some(
        (event) =>
          event.group === group &&
          event.vms.includes(name) &&
          meets({ from: event.announcedAt ?? event.startedAt ?? 0, to: event.removedAt }),
      );
    if (isBusy) continue;
    const startedAt = announcedAt + 15 * minute;
    const hasImpact = random(4) > 0;
    const from = startedAt + 5 * second;
    freezes.push({
      id: guid(0xf0000000 + number, number),
      group,
      type: 'Freeze',
      source: 'Platform',
      vms: [name],
      announcedAt,
      notBefore: startedAt,
      startedAt,
      removedAt: startedAt + 5 * minute,
      durationSeconds: hasImpact ? 5 : 0,
      approval: null,
      impacts: hasImpact ? [{ vm: name, kind: 'pause', from, to: from + 2 * second + random(9000) }] : [],
    });
  }
  return freezes;
}
