import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A function of the workspace: `VmLifecycle(Lookback:timespan=14d)`. */
export type StoredFunction = { readonly name: string; readonly parameters: string; readonly body: string };

const parameterLine = /^\/\/ params: \((.*)\)\s*$/;

/**
 * The functions in the `.kql` files of a folder, each named for its file. Parameters stand only in a first line
 * `// params: (Lookback:timespan=14d)`. Throws when a folder is not there.
 */
export function readStoredFunctions(folder: string): StoredFunction[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.kql'));
  return files.sort().map((file) => {
    const body = readFileSync(join(folder, file), 'utf8');
    return storedFunction(basename(file, '.kql'), body);
  });
}

export function storedFunction(name: string, body: string): StoredFunction {
  const [first = ''] = body.split('\n');
  return { name, parameters: parameterLine.exec(first)?.[1] ?? '', body };
}
