import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './harness.ts';

export type Script = 'deb/postinst' | 'deb/prerm' | 'deb/postrm' | 'rpm/post' | 'rpm/preun' | 'rpm/postun';

/** Programs of this machine that a script may run, since they reach nothing but what is named to them. */
const harmless = ['basename', 'cat', 'rm', 'rmdir'];

/** Runs a script of a package with every path of it under `root`, and programs that only print how they were called. */
export function maintainerScript(name: Script, args: readonly string[], there: Readonly<Record<string, string>>) {
  const root = newFolder();
  const calls = join(root, 'calls');
  const printingScript = (code: number): string =>
    `#!/bin/sh\necho "$(basename "$0") $*" >> "${calls}"\nexit ${code}\n`;
  for (const [path, what] of Object.entries(there)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    if (what === 'folder') mkdirSync(join(root, path));
    else
      writeFileSync(join(root, path), what.startsWith('exit ') ? printingScript(Number(what.slice(5))) : what, {
        mode: 0o755,
      });
  }
  const source = readFileSync(join(import.meta.dirname, '../../../infra/package/scripts', name), 'utf8');
  const moved = source.replaceAll(/(?<=[\s=])(\/(usr|opt|var|run|etc)\/[\w./-]+)/g, '"$ROOT"$1');
  const script = join(root, 'script');
  writeFileSync(script, moved);
  mkdirSync(join(root, 'bin'), { recursive: true });
  for (const name of harmless) {
    const [found = ''] = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).filter((path) => existsSync(path));
    symlinkSync(found, join(root, 'bin', name));
  }
  const env = { ROOT: root, PATH: join(root, 'bin') };
  const { status, stdout, stderr } = spawnSync('/bin/sh', [script, ...args], { encoding: 'utf8', env });
  const logged = spawnSync('cat', [calls], { encoding: 'utf8' }).stdout.replaceAll(root, '');
  return { status, stdout, stderr, calls: logged.split('\n').filter((line) => line !== ''), root };
}

export const program = '/usr/lib/scheduled-events-bridge/scheduled-events-bridge';
export const current = '/opt/scheduled-events-bridge/current';
export const remover = '/opt/scheduled-events-bridge/remove.sh';
export const from = '--from /usr/lib/scheduled-events-bridge';

/** What a script is expected to call, given what there is. */
export interface MaintainerCase {
  name: string;
  script: Script;
  args: readonly string[];
  there: Readonly<Record<string, string>>;
  calls: readonly string[];
  status?: number;
}
