import { join } from 'node:path';
import type { ProgramName } from '../../infra/package/bundle.ts';
import { root } from './source-tree.ts';

/** Where a run of the tests puts the programs, bundled as for a release: they start three times as fast as the sources. */
export const builtPrograms = join(root, 'node_modules/.cache/test');
export const builtFile = (program: ProgramName): string => join(builtPrograms, `${program}.cjs`);

const isBuilt = process.env.TEST_PROGRAMS === builtPrograms;
/** The bridge that tests start: what this run has built, else the sources. */
export const mainFile = isBuilt ? builtFile('scheduled-events-bridge') : join(root, 'src/main.ts');
export const simulatorFile = isBuilt
  ? builtFile('scheduled-events-simulator')
  : join(root, 'src/azure-simulator/main.ts');

/** The least environment for a program: nothing of the user's, and Node's cache of compiled code. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { ...(PATH && { PATH }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}
