import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * A module of the bridge that is tested: from these sources, so that a negative control reaches it. `path` is below `src`; its type is
 * that of the present sources.
 */
export const load = async <T>(sources: string, path: string): Promise<T> =>
  (await import(pathToFileURL(join(sources, path)).href)) as T;
