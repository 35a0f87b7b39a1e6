import type { Step, StepOptions } from '../step.ts';
import { gallery, galleryRemoveVersion } from './gallery.ts';
import { linuxInstallSteps } from './install.ts';
import { windowsInstallSteps } from './install-windows.ts';
import { machineSteps } from './machines.ts';
import { network } from './network.ts';
import { packages } from './packages.ts';
import { groups, platform, platformAgain } from './platform.ts';
import { prepareSteps } from './prepare.ts';
import { type AzureTools, toolsHere } from './tools.ts';

/** The steps of the phases `prepare`, `deploy` and `install` in a subscription. */
export const azureSteps = (options: StepOptions, tools: AzureTools = toolsHere): readonly Step[] => [
  ...prepareSteps(options),
  groups,
  network,
  platform,
  platformAgain,
  packages(options, tools),
  gallery(options, tools),
  ...machineSteps(options, tools),
  ...linuxInstallSteps(tools),
  ...(options.windows ? windowsInstallSteps(tools) : []),
  galleryRemoveVersion,
];
