import { styleText } from 'node:util';

/** The format of text for its destination. */
export interface TextFormat {
  /** Columns; infinite where it goes to no terminal: what reads lines wants whole ones. */
  readonly width: number;
  readonly colour: boolean;
}

/** For a file, a pipe, a test. */
export const plainFormat: TextFormat = { width: Number.POSITIVE_INFINITY, colour: false };

/** The part of a stream that shows whether it is a terminal. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** https://no-color.org */
export const mayColour = ({ isTTY }: Terminal, env: NodeJS.ProcessEnv): boolean =>
  isTTY === true && env.TERM !== 'dumb' && !env.NO_COLOR;

export const formatFor = (terminal: Terminal, env: NodeJS.ProcessEnv): TextFormat =>
  terminal.isTTY ? { width: terminal.columns ?? 80, colour: mayColour(terminal, env) } : plainFormat;

export type Style = Parameters<typeof styleText>[0];

export const styled = (style: Style, text: string, { colour }: TextFormat): string =>
  colour ? styleText(style, text, { validateStream: false }) : text;
