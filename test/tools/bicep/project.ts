import { dirname, posix } from 'node:path';
import type { AzureShapes } from './azure-shapes.ts';
import { readFile } from './read-file.ts';
import { createScope, type Scope } from './scope.ts';
import type { BicepFile } from './syntax.ts';

/** Files that belong together; each is read and parsed once. Paths are relative to one root, with `/`. */
export interface Project {
  /** Azure's own descriptions; null where they are absent. */
  readonly azure: AzureShapes | null;
  /** null where there is no such file. */
  text(path: string): string | null;
  file(path: string): BicepFile | null;
  /** The names of a file; null where there is no such file. */
  scope(path: string): Scope | null;
}

/** @param text the text of a file, null when it does not exist. */
export function createProject(text: (path: string) => string | null, azure: AzureShapes | null): Project {
  const texts = new Map<string, string | null>();
  const files = new Map<string, BicepFile | null>();
  const scopes = new Map<string, Scope | null>();
  const once = <T>(made: Map<string, T>, path: string, make: () => T): T => {
    const known = made.get(path);
    if (known !== undefined) return known;
    const value = make();
    made.set(path, value);
    return value;
  };
  const project: Project = {
    azure,
    text: (path) => once(texts, path, () => text(path)),
    file: (path) =>
      once(files, path, () => {
        const source = project.text(path);
        return source === null ? null : readFile(path, source);
      }),
    scope: (path) =>
      once(scopes, path, () => {
        const file = project.file(path);
        return file === null ? null : createScope(file, project);
      }),
  };
  return project;
}

/** The path that a file names, seen from the root. */
export const resolvePath = (from: BicepFile, path: string): string => posix.join(dirname(from.path), path);
