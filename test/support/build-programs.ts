import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle, type ProgramName } from '../../infra/package/bundle.ts';
import { builtFile, builtPrograms, compiledCode, metafileOf } from './program.ts';

const compiledMegabytes = 64;

/** Runs once before all tests. Another run in the same clone may be reading the files, so each is replaced at once. */
export default async function buildPrograms(): Promise<void> {
  pruneCompiledCode();
  mkdirSync(builtPrograms, { recursive: true });
  await Promise.all((['scheduled-events-bridge', 'scheduled-events-simulator'] as const).map(build));
}

async function build(program: ProgramName): Promise<void> {
  const draft = `${builtFile(program)}.${process.pid}`;
  const metafile = await bundle(draft, { program });
  renameSync(draft, builtFile(program));
  writeFileSync(draft, JSON.stringify(metafile));
  renameSync(draft, metafileOf(program));
}

/** Node adds an entry for every path that it ever ran, such as programs in temporary directories, and removes none. */
function pruneCompiledCode(): void {
  if (!existsSync(compiledCode)) return;
  const files = readdirSync(compiledCode, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(compiledCode, name),
  );
  const bytes = files.reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
  if (bytes > compiledMegabytes * 2 ** 20) rmSync(compiledCode, { recursive: true, force: true });
}
