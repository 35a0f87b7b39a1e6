import { mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundle } from '../../infra/package/bundle.ts';
import { builtProgram } from './program.ts';

/** Runs once before all tests. Another run in the same clone may be reading the file, so it is replaced at once. */
export default async function buildProgram(): Promise<void> {
  mkdirSync(dirname(builtProgram), { recursive: true });
  const draft = `${builtProgram}.${process.pid}`;
  await bundle(draft);
  renameSync(draft, builtProgram);
}
