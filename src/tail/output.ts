import type { EventState } from '../consumer/index.ts';
import { createScreen } from '../terminal/screen.ts';
import { plural, type Row, span, toText } from '../terminal/styled-text.ts';
import type { FleetFeed } from './fleet-feed.ts';
import { footer } from './footer.ts';
import { jsonOf, lineOf } from './line.ts';
import type { Transition } from './transitions.ts';

/** Where transitions go. */
export interface TailOutput {
  transitions(news: readonly Transition[]): void;
  /** History is read, and none of it is shown. */
  nothingYet(recordCount: number): void;
  /** About the tail itself: not part of what is tailed. */
  notice(text: string): void;
  /** What the records show to be missing; null: nothing. */
  losses(text: string | null): void;
  /** Brings what counts down up to date; to be called once a second. */
  refresh(now: Date): void;
  /** Restores the terminal. A second call does nothing. */
  close(): void;
}

interface LineFormat {
  readonly hub: string;
  readonly json: boolean;
  readonly colour: boolean;
  readonly columns: number;
}

/** Lines for a file, a pipe, or a terminal that cannot move its cursor. */
export function lineOutput(
  write: (text: string) => void,
  warn: (text: string) => void,
  { hub, json, colour, columns }: LineFormat,
): TailOutput {
  const textOf = (one: Transition): string => (json ? jsonOf(one) : toText(lineOf(one, columns), colour));
  return {
    transitions: (news) => void (news.length > 0 && write(news.map((one) => `${textOf(one)}\n`).join(''))),
    nothingYet: (recordCount) => warn(`Following ${hub}: ${plural(recordCount, 'record')}, nothing to show yet.\n`),
    notice: (text) => warn(`${text}\n`),
    losses: (text) => void (text !== null && warn(`${text}\n`)),
    refresh: () => {},
    close: () => {},
  };
}

/** A terminal, as far as it is used. */
export interface TerminalSize {
  readonly columns?: number;
  readonly rows?: number;
}

interface Shown {
  readonly hub: string;
  readonly feed: FleetFeed;
  readonly isShown: (event: EventState) => boolean;
  readonly colour: boolean;
}

/** Lines with the open events below them, whose time counts down. */
export function terminalOutput(
  write: (text: string) => void,
  terminal: TerminalSize,
  { colour, ...state }: Shown,
): TailOutput {
  const columns = (): number => terminal.columns ?? 80;
  const screen = createScreen(write, colour, columns);
  let losses: string | null = null;
  const print = (rows: readonly Row[]): void => void (rows.length > 0 && screen.printAbove(rows));
  return {
    transitions: (news) => print(news.map((one) => lineOf(one, columns()))),
    // The footer says it.
    nothingYet: () => {},
    notice: (text) =>
      print(
        text
          .trimEnd()
          .split('\n')
          .map((line) => [span(line, 'quiet')]),
      ),
    losses(text) {
      losses = text;
    },
    refresh: (now) => screen.draw(footer({ ...state, losses }, now, { columns: columns(), rows: terminal.rows ?? 24 })),
    close: () => screen.erase(),
  };
}
