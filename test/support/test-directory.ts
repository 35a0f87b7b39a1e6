import { onTestFinished } from 'vitest';
import { temporaryDirectory } from './bridge-process.ts';

/** A directory that outlives what a test opens or starts after it, and could write to it until its end: hooks run in reverse order. */
export function testDirectory(name: string): string {
  const directory = temporaryDirectory(name);
  onTestFinished(() => directory[Symbol.dispose]());
  return directory.path;
}
