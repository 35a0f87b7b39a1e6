import type { Project } from './project.ts';
import type { Scope } from './scope.ts';
import type { BicepFile } from './syntax.ts';

/** Something wrong in a file. */
export interface Finding {
  readonly line: number;
  /** What `#disable-next-line` calls it: Bicep's own code or linter rule where there is one. */
  readonly code: string;
  /** A sentence for the one who wrote it. */
  readonly what: string;
}

/** The input of a check: one file, its names, and the files around it. */
export interface Checked {
  readonly file: BicepFile;
  readonly scope: Scope;
  readonly project: Project;
}

/** A check is a pure function from a file to what is wrong in it. */
export type Check = (checked: Checked) => readonly Finding[];

export const finding = (line: number, code: string, what: string): Finding => ({ line, code, what });
