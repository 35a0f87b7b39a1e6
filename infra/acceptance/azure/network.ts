import type { Run, Step } from '../step.ts';
import { createNatGateway, createNetwork, createPublicAddress, createSubnet } from './machine-commands.ts';
import { namesOf } from './names.ts';
import { forNetwork } from './prices.ts';

const commandsFor = (run: Run): readonly (readonly string[])[] => {
  const names = namesOf(run);
  const at = { group: run.groups.machines, location: run.location, tags: run.tags };
  return [
    createPublicAddress(run, { ...at, name: names.address }),
    createNatGateway(run, { ...at, name: names.natGateway, address: names.address }),
    createNetwork(run, { ...at, name: names.network }),
    createSubnet(run, {
      group: run.groups.machines,
      name: names.subnet,
      network: names.network,
      gateway: names.natGateway,
    }),
  ];
};

export const network: Step = {
  id: 'network',
  title: 'create a network with a way out and none in',
  phase: 'deploy',
  needs: ['groups'],
  creates: ['a virtual network, a NAT gateway and its public address'],
  rights: ['Contributor on the subscription'],
  cost: forNetwork(),
  minutes: 3,
  proves: [],
  commands: commandsFor,
  run: async ({ az, run, found }) => {
    let answer: unknown;
    for (const args of commandsFor(run)) answer = await az.call(args);
    found.set('network', { subnetResourceId: (answer as { id: string }).id });
  },
};
