import { prices as platformPrices } from '../../costs-model.ts';

/** The day on which these prices were noted. They were not taken from a current price list, which takes precedence. */
export const pricesAsOf = '2026-11-22';

/**
 * US dollars, pay as you go, rounded up, in the order of what a large region has had.
 * https://azure.microsoft.com/pricing/details/virtual-machines/linux/ https://azure.microsoft.com/pricing/details/managed-disks/
 * https://azure.microsoft.com/pricing/details/azure-nat-gateway/ https://azure.microsoft.com/pricing/details/ip-addresses/
 */
export const machinePrices = {
  /** The dearest of the sizes in `sizes.ts`, with Linux and its disk; a Spot VM never costs more. */
  linuxHour: 0.13,
  /** The same with the licence of Windows and its larger disk. */
  windowsHour: 0.25,
  /** With its public address. */
  natGatewayHour: 0.05,
  natGatewayGb: 0.045,
  storageGbMonth: 0.02,
} as const;

/** The cost of what a run creates is calculated for this time, after which a run is ended. */
export const assumedHours = 10;

const rounded = (usd: number): number => Math.ceil(usd * 100) / 100;

export const free = (basis: string): { readonly usd: number; readonly basis: string } => ({ usd: 0, basis });

export const forMachines = (count: number, os: 'linux' | 'windows' = 'linux') => {
  const hour = os === 'windows' ? machinePrices.windowsHour : machinePrices.linuxHour;
  return {
    usd: rounded(count * hour * assumedHours),
    basis: `${count} VM${count === 1 ? '' : 's'} of 2 cores for ${assumedHours} hours at $${hour} (${pricesAsOf})`,
  };
};

export const forNetwork = () => ({
  usd: rounded(machinePrices.natGatewayHour * assumedHours + 5 * machinePrices.natGatewayGb),
  basis: `a NAT gateway with its address for ${assumedHours} hours at $${machinePrices.natGatewayHour}, and 5 GB at $${machinePrices.natGatewayGb} (${pricesAsOf})`,
});

/** Alert rules are charged by the hour: those of `alerts.yaml` cost less than this a month. */
const alertsMonth = 60;

export const forPlatform = () => ({
  usd: rounded(
    platformPrices.throughputUnitHour.value * assumedHours +
      platformPrices.logsPerGb.value * 0.1 +
      (alertsMonth / 730) * assumedHours,
  ),
  basis: `one throughput unit for ${assumedHours} hours at $${platformPrices.throughputUnitHour.value}, 0.1 GB of logs at $${platformPrices.logsPerGb.value}, alert rules at $${alertsMonth} a month (${pricesAsOf})`,
});

export const forPackages = () => ({
  usd: 0.01,
  basis: `1 GB for a day at $${machinePrices.storageGbMonth} a month, with the copies of the gallery (${pricesAsOf})`,
});
