import { minute, type Scenario, type Step } from './scenario.ts';

/**
 * Maintenance that goes through a scale set, one update domain after the other: each domain is one event for all of its VMs, and the next
 * is announced when the one before has started.
 *
 * @param vmCount VMs of the scale set; number n is in update domain n modulo `domains`.
 */
export function rollingMaintenance(vmCount: number, domains: number): Scenario {
  const numbers = Array.from({ length: vmCount }, (_, number) => number);
  const inDomain = (domain: number): number[] => numbers.filter((number) => number % domains === domain);
  const announce = (domain: number): Step => ({
    afterSeconds: 0,
    do: 'schedule',
    event: `domain ${domain}`,
    eventType: 'Reboot',
    noticeSeconds: 15 * minute,
    on: inDomain(domain),
  });
  const turn = (domain: number): Step[] => [
    { afterSeconds: domain === 0 ? 15 * minute : 5 * minute, do: 'start', event: `domain ${domain}` },
    { afterSeconds: 0, do: 'impact', event: `domain ${domain}`, kind: 'restart', on: inDomain(domain), seconds: 90 },
    ...(domain + 1 < domains ? [announce(domain + 1)] : []),
    { afterSeconds: 10 * minute, do: 'remove', event: `domain ${domain}` },
  ];
  return {
    name: 'scale-set-rolling',
    description: `Maintenance goes through a scale set of ${vmCount} VMs, one of its ${domains} update domains after the other.`,
    demoSpeed: 240,
    vms: numbers.map((number) => ({ updateDomain: String(number % domains) })),
    steps: [announce(0), ...Array.from({ length: domains }, (_, domain) => turn(domain)).flat()],
  };
}
