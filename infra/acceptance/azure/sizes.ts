import type { Machine } from '../target.ts';

/**
 * Sizes to try, the cheapest first. All have 2 cores of x64, premium disks and generation 2 images, as trusted launch needs.
 * https://learn.microsoft.com/azure/virtual-machines/sizes/overview
 */
const small = [
  'Standard_B2s_v2',
  'Standard_B2as_v2',
  'Standard_B2ls_v2',
  'Standard_D2as_v5',
  'Standard_D2s_v5',
  'Standard_D2ads_v5',
  'Standard_D2s_v4',
  'Standard_D2as_v6',
  'Standard_D2s_v6',
] as const;

/** There is no Spot for the B families: https://learn.microsoft.com/azure/virtual-machine-scale-sets/use-spot#limitations */
const sizesOfRole = (role: Machine['role']): readonly string[] =>
  role === 'spot' ? small.filter((size) => !size.startsWith('Standard_B')) : small;

const coresOfSize = 2;

/** The machines of a run, in the order in which they get cores if there are too few for all. */
export const fleetOf = (windows: boolean): readonly { readonly role: Machine['role']; readonly count: number }[] => [
  { role: 'single', count: 1 },
  { role: 'uniform', count: 2 },
  { role: 'spot', count: 1 },
  { role: 'flexible', count: 2 },
  ...(windows ? [{ role: 'windows', count: 1 } as const] : []),
];

export interface Size {
  readonly name: string;
  readonly family: string;
  readonly restrictions: readonly { readonly type: string; readonly reason: string }[];
}

/** https://learn.microsoft.com/rest/api/compute/usage/list */
export interface Usage {
  readonly name: { readonly value: string };
  readonly currentValue: number | string;
  readonly limit: number | string;
}

/** Quota of all families together, and of Spot VMs, whatever their family: https://learn.microsoft.com/azure/virtual-machines/quotas */
const allCores = 'cores';
const spotCores = 'lowPriorityCores';

/**
 * For each role the sizes that the region offers to the subscription and for which cores are left, counting those of the roles before it as
 * used. A role without any gets an empty list.
 */
export function sizesFor(
  fleet: readonly { readonly role: Machine['role']; readonly count: number }[],
  offered: readonly Size[],
  usages: readonly Usage[],
): Readonly<Partial<Record<Machine['role'], readonly string[]>>> {
  const left = new Map(
    usages.map(({ name, currentValue, limit }) => [name.value.toLowerCase(), Number(limit) - Number(currentValue)]),
  );
  const has = (quota: string, cores: number): boolean => (left.get(quota.toLowerCase()) ?? 0) >= cores;
  const use = (quota: string, cores: number): void => {
    left.set(quota.toLowerCase(), (left.get(quota.toLowerCase()) ?? 0) - cores);
  };
  const chosen: Partial<Record<Machine['role'], readonly string[]>> = {};
  for (const { role, count } of fleet) {
    const cores = count * coresOfSize;
    const quotasOf = (family: string): readonly string[] => (role === 'spot' ? [spotCores] : [allCores, family]);
    const possible = sizesOfRole(role).flatMap((name) => {
      const size = offered.find((one) => one.name.toLowerCase() === name.toLowerCase());
      // A restriction of type Zone leaves the region usable for VMs without a zone.
      if (size === undefined || size.restrictions.some(({ type }) => type === 'Location')) return [];
      return quotasOf(size.family).every((quota) => has(quota, cores)) ? [size] : [];
    });
    chosen[role] = possible.map(({ name }) => name);
    if (possible[0] !== undefined) for (const quota of quotasOf(possible[0].family)) use(quota, cores);
  }
  return chosen;
}

/** What the quota of the region allows, as one line. */
export function describeQuota(usages: readonly Usage[]): string {
  const of = (quota: string): string => {
    const usage = usages.find(({ name }) => name.value.toLowerCase() === quota.toLowerCase());
    return usage === undefined ? 'unknown' : `${usage.currentValue} of ${usage.limit} used`;
  };
  return `cores of the region: ${of(allCores)}; Spot: ${of(spotCores)}`;
}

export const coresOf = (fleet: readonly { readonly count: number }[]): number =>
  fleet.reduce((sum, { count }) => sum + count * coresOfSize, 0);
