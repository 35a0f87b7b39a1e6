import type { GroupDocument } from './document.ts';
import { openView, type View } from './view.ts';
import { createVm, type Vm, type VmDefinition } from './vm.ts';

/** A VM of the group and what its endpoint shows. */
export interface KnownVm {
  readonly vm: Vm;
  readonly view: View;
}

/** The VMs of one group. */
export interface Vms {
  readonly all: readonly Vm[];
  /** Adds a VM, or replaces the one of that name. */
  add(definition: VmDefinition): Vm;
  /** The VM of that name, added if it is not there yet. Null: the first. */
  get(name: string | null): KnownVm;
}

export function createVms(group: GroupDocument, definitions: readonly VmDefinition[]): Vms {
  const known = new Map<string, KnownVm>();
  const add = (definition: VmDefinition): KnownVm => {
    const vm = createVm(definition);
    known.get(vm.name)?.view.close();
    const one = { vm, view: openView(group, vm) };
    known.set(vm.name, one);
    return one;
  };
  for (const definition of definitions) add(definition);
  return {
    get all() {
      return [...known.values()].map(({ vm }) => vm);
    },
    add: (definition) => add(definition).vm,
    get(name) {
      const found = name === null ? known.values().next().value : known.get(name);
      return found ?? add({ name: name ?? 'web_0' });
    },
  };
}
