import { describe, expect, test } from 'vitest';
import { operationCommands } from '../../../../infra/acceptance/events/commands.ts';
import { scenarios } from '../../../../infra/acceptance/events/scenarios.ts';
import { machinesFor } from '../../../../infra/acceptance/events/steps.ts';
import type { Machine, Operation } from '../../../../infra/acceptance/target.ts';
import { refusalsOf, whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import { scenarioNamed } from './timeline.ts';

const place = { subscription: '00000000-0000-0000-0000-000000000000' };
const vm = { resourceGroup: 'rg', name: 'vm-1', scaleSet: null, instanceId: null };
const instance = { resourceGroup: 'rg', name: 'uni_3', scaleSet: 'uni', instanceId: '3' };

const operations = Object.keys(operationCommands) as Operation[];
const calls = operations.flatMap((operation) => [
  operationCommands[operation](place, vm),
  ...(['restart', 'delete-instance'].includes(operation) ? [operationCommands[operation](place, instance)] : []),
]);

const missing = whyNoAzureCli();
if (missing !== null) {
  console.warn(`  skipped: what the parser of the Azure CLI says (${missing}); test/azure-cli/prepare fetches it`);
}

describe('the commands that make events', () => {
  test.skipIf(missing !== null)('are accepted by the parser of the Azure CLI', () => {
    expect(refusalsOf(calls)).toEqual(calls.map(() => null));
  });

  test('wait for no event, since a notice takes up to 15 minutes', () => {
    const waiting = calls.filter((args) => !args.includes('--no-wait')).map((args) => args.slice(0, 2).join(' '));
    expect(waiting).toEqual(['vm simulate-eviction', 'vm start']);
  });

  test('name the instance of a uniform scale set by its number, and a VM by its name', () => {
    expect(operationCommands['delete-instance'](place, instance).join(' ')).toContain('--name uni --instance-ids 3');
    expect(operationCommands['delete-instance'](place, vm).join(' ')).toContain('vm delete');
  });
});

describe('the VM of a scenario', () => {
  const machine = (name: string, role: Machine['role']): Machine => ({
    name,
    role,
    os: 'linux',
    scaleSet: role === 'single' ? null : role,
  });
  const machines = [machine('a', 'single'), machine('u0', 'uniform'), machine('u1', 'uniform')];
  const namesFor = (id: string) => {
    const { machine, sibling } = machinesFor(scenarioNamed(id), machines);
    return [machine.name, sibling?.name ?? null];
  };

  test('of a deletion is one that no scenario before it has deleted', () => {
    expect(namesFor('restart-uniform')).toEqual(['u0', 'u1']);
    expect(namesFor('delete-uniform-approved')).toEqual(['u0', 'u1']);
    expect(namesFor('delete-uniform')).toEqual(['u1', null]);
    expect(namesFor('restart')).toEqual(['a', null]);
  });

  test('of a redeploy is a second one where there is one', () => {
    expect(namesFor('redeploy')).toEqual(['a', null]);
    const two = [...machines, machine('b', 'single')];
    expect(machinesFor(scenarioNamed('redeploy'), two)).toEqual({ machine: two.at(-1), sibling: null });
    expect(machinesFor(scenarioNamed('restart'), two).machine.name).toBe('a');
  });

  test('that is missing fails the scenario', () => {
    expect(() => machinesFor(scenarioNamed('delete-flexible'), machines)).toThrow(
      'The scenario needs 2 VMs of the kind flexible; there are 0.',
    );
  });

  test('is deallocated or deleted only after every other scenario on it', () => {
    for (const [index, { role, afterwards }] of scenarios.entries()) {
      const later = scenarios.slice(index + 1).filter((one) => one.role === role && one.afterwards !== 'deleted');
      if (afterwards !== 'running') expect(later).toEqual([]);
    }
  });
});
