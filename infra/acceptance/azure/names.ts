import type { Run } from '../step.ts';

/**
 * Names of what a run creates. All have its id, so that two runs do not meet. Azure limits some of them: a storage account has 24 letters and
 * digits and is unique in the whole cloud, `main.bicep` takes 20 characters, a Windows VM 15, and the prefix of the instances of a scale set 9.
 */
export const namesOf = ({ id }: Pick<Run, 'id'>) => ({
  /** Parameter `name` of `main.bicep`. */
  platform: `seb${id}`,
  deployment: (part: string): string => `seb-${id}-${part}`,
  workspace: `log-seb${id}`,
  storageAccount: `sebpkg${id}`.slice(0, 24),
  container: 'packages',
  galleryIdentity: `id-gallery-${id}`,
  gallery: `gal_seb_${id}`,
  network: `vnet-${id}`,
  subnet: 'vms',
  address: `pip-${id}`,
  natGateway: `ng-${id}`,
  vm: `vm-${id}`,
  spotVm: `spot-${id}`,
  windowsVm: `win-${id}`.slice(0, 15),
  uniform: `uni-${id}`,
  flexible: `flex-${id}`,
});
