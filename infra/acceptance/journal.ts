import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Difference, Finding, OutsideGroups, Run } from './step.ts';
import type { StepOutcome } from './verdicts.ts';

/** Something that the clean-up could not remove. */
export interface Left {
  /** A phrase: `the group rg-…-machines`. */
  readonly what: string;
  /** Why it is left, as a sentence. */
  readonly why: string;
  /** The command that removes it; null where it disappears by itself, or a person has to decide. */
  readonly command: string | null;
}

/** How a run was begun: what the report needs besides the steps. */
export interface Beginning {
  readonly event: 'run-begun';
  readonly run: Run;
  readonly against: 'azure' | 'simulator';
  readonly windows: boolean;
  /** Of `az`, Bicep and the bridge. */
  readonly versions: Readonly<Record<string, string>>;
  readonly steps: readonly {
    readonly id: string;
    readonly title: string;
    readonly phase: string;
    readonly usd: number;
  }[];
  /** Whether what was created is to stay. */
  readonly keep: boolean;
  /** What carries the run out. */
  readonly process: { readonly host: string; readonly pid: number };
}

/** What happened in a run. The report is made of nothing else, so that `--clean-up` can write it after a crash. */
export type RunEvent =
  | Beginning
  | { readonly event: 'step-begun'; readonly step: string }
  | { readonly event: 'step-ended'; readonly step: string; readonly outcome: StepOutcome }
  | { readonly event: 'call-begun'; readonly args: readonly string[] }
  | {
      readonly event: 'call-ended';
      readonly args: readonly string[];
      readonly seconds: number;
      /** Null when it succeeded. */
      readonly error: string | null;
      readonly isRetried: boolean;
    }
  | { readonly event: 'found'; readonly step: string; readonly value: unknown }
  | { readonly event: 'will-create'; readonly item: OutsideGroups }
  | { readonly event: 'finding'; readonly step: string; readonly finding: Finding }
  | { readonly event: 'difference'; readonly difference: Difference }
  | { readonly event: 'measured'; readonly what: string; readonly seconds: number; readonly detail: string }
  | { readonly event: 'said'; readonly line: string }
  | { readonly event: 'run-ended'; readonly because: 'all steps' | 'interrupted' | 'time limit' | 'error' }
  | { readonly event: 'clean-up-begun' }
  | { readonly event: 'removed'; readonly what: string }
  | { readonly event: 'clean-up-ended'; readonly left: readonly Left[] };

/** A line of the journal. `at` is a UTC time. */
export type Entry = RunEvent & { readonly at: string };

/** Append-only. What a process has written survives its end; what the clean-up needs also survives a power failure. */
export interface Journal {
  write(event: RunEvent): void;
  /** Everything written so far, by this process and those before it. */
  readonly entries: readonly Entry[];
  close(): void;
}

/** Written before something is created. */
const mustBeOnDisk: readonly RunEvent['event'][] = ['run-begun', 'step-begun', 'will-create', 'found', 'step-ended'];

const journalFile = 'journal.jsonl';

/** Opens the journal in the folder of a run, and makes the folder. Only the owner may read it: it names the subscription. */
export function openJournal(folder: string, now: () => Date = () => new Date()): Journal {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const entries = [...readJournal(folder)];
  const fd = openSync(join(folder, journalFile), 'a', 0o600);
  // What a crash left of a line ends here.
  if (entries.length > 0) writeSync(fd, '\n');
  return {
    entries,
    write(event) {
      const entry: Entry = { at: now().toISOString(), ...event };
      writeSync(fd, `${JSON.stringify(entry)}\n`);
      if (mustBeOnDisk.includes(event.event)) fsyncSync(fd);
      entries.push(entry);
    },
    close: () => closeSync(fd),
  };
}

/** What is in the journal of a folder; empty if it has none. A line that a crash left incomplete is passed over. */
export function readJournal(folder: string): readonly Entry[] {
  const file = join(folder, journalFile);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8').split('\n').flatMap(entryOf);
}

function entryOf(line: string): Entry[] {
  try {
    return line === '' ? [] : [JSON.parse(line)];
  } catch {
    return [];
  }
}

/** How the run was begun; undefined for a journal that is empty. */
export const beginningOf = (entries: readonly Entry[]): (Entry & Beginning) | undefined =>
  entries.find((entry) => entry.event === 'run-begun');
