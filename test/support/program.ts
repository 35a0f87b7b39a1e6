import { join } from 'node:path';
import { root } from './source-tree.ts';

/** Where a run of the tests puts the program, bundled as for a release: it starts three times as fast as the sources. */
export const builtProgram = join(root, 'node_modules/.cache/test/scheduled-events-bridge.cjs');

/** The program that tests start: what this run has built, else the sources. */
export const mainFile = process.env.TEST_PROGRAM ?? join(root, 'src/main.ts');

/** The least environment for the program: nothing of the user's, and Node's cache of compiled code. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { ...(PATH && { PATH }), ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}
