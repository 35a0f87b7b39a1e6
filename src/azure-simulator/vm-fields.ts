import type { VmDefinition } from './imds/vm.ts';
import {
  InvalidInput,
  type Kind,
  listOf,
  name,
  number,
  oneOf,
  orNull,
  readFields,
  text,
  texts,
  wholeNumber,
} from './read-fields.ts';

const image: Kind<NonNullable<VmDefinition['image']>> = {
  expected: 'an object of publisher, offer, sku and version',
  fits: (value): value is NonNullable<VmDefinition['image']> =>
    texts.fits(value) && ['publisher', 'offer', 'sku', 'version'].every((part) => value[part] !== undefined),
};

const kinds = {
  name,
  vmId: name,
  scaleSet: orNull(name),
  placementGroupId: text,
  subscriptionId: name,
  resourceGroup: name,
  location: text,
  zone: text,
  physicalZone: text,
  faultDomain: text,
  updateDomain: text,
  vmSize: text,
  priority: text,
  osType: oneOf('Linux', 'Windows'),
  image,
  tags: texts,
  azureEnvironment: text,
  sees: oneOf('group', 'own'),
  incarnationOffset: wholeNumber(0, 1_000_000_000),
  misses: listOf(wholeNumber(1, 1_000_000_000)),
  clockOffsetSeconds: number('a number of seconds', -86_400, 86_400),
} satisfies { readonly [F in keyof VmDefinition]-?: Kind<VmDefinition[F]> };

/** A VM definition from JSON. @throws {InvalidInput} */
export function readVm(what: string, value: unknown): VmDefinition {
  const { name, ...rest } = readFields(what, value, kinds);
  if (name === undefined) throw new InvalidInput(`${what} has no name; it is the VM's name, as Resources spells it`);
  return { name, ...rest };
}
