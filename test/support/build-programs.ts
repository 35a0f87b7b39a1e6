import { mkdirSync, renameSync } from 'node:fs';
import { bundle, type ProgramName } from '../../infra/package/bundle.ts';
import { builtFile, builtPrograms } from './program.ts';

/** Runs once before all tests. Another run in the same clone may be reading the files, so each is replaced at once. */
export default async function buildPrograms(): Promise<void> {
  mkdirSync(builtPrograms, { recursive: true });
  await Promise.all((['scheduled-events-bridge', 'scheduled-events-simulator'] as const).map(build));
}

async function build(program: ProgramName): Promise<void> {
  const draft = `${builtFile(program)}.${process.pid}`;
  await bundle(draft, { program });
  renameSync(draft, builtFile(program));
}
