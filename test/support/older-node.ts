import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A Node.js of this machine that is older than the project needs. */
export interface OlderNode {
  readonly path: string;
  readonly version: string;
}

/** The first one on the PATH, or the reason why none was found, to be printed with what is skipped. */
export function olderNode(): { readonly node: OlderNode | null; readonly whyNot: string } {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/bin', '/usr/bin'];
  for (const directory of directories.filter((one) => !one.includes('node_modules'))) {
    const path = join(directory, 'node');
    if (!existsSync(path)) continue;
    // What it calls itself: a link is followed.
    const output = spawnSync(path, ['-p', 'process.execPath + " " + process.versions.node'], { encoding: 'utf8' });
    const [real = '', version = ''] = output.status === 0 ? output.stdout.trim().split(' ') : [];
    if (/^(1\d|2[0-3])\./.test(version)) return { node: { path: real, version }, whyNot: '' };
  }
  return { node: null, whyNot: ' (skipped: there is no older Node.js on the PATH)' };
}
