import type { Verdict } from '../../check/finding.ts';
import { type OperatingSystem, thisSystem } from '../../operating-system.ts';
import { plainFormat, type Style, styled, type TextFormat } from '../../process/text-format.ts';
import { wrap } from '../wrap.ts';
import { type Class, type Finding, type Judgement, judge } from './finding.ts';

/** The version of the format; it grows when a field is removed. */
export const reportVersion = 2;

/** What `--json` prints: one object. */
export interface Report {
  readonly reportVersion: typeof reportVersion;
  readonly bridgeVersion: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** The network was left out. */
  readonly offline: boolean;
  readonly verdict: Judgement['verdict'];
  readonly exitCode: number;
  readonly counts: Judgement['counts'];
  readonly findings: readonly { readonly what: string; verdict: Verdict; message: string; remedy: string | null }[];
}

export function reportOf(
  findings: readonly Finding[],
  about: { readonly bridgeVersion: string; readonly at: Date; readonly offline: boolean },
): Report {
  const { verdict, exitCode, counts } = judge(findings);
  return {
    reportVersion,
    bridgeVersion: about.bridgeVersion,
    at: about.at.toISOString(),
    offline: about.offline,
    verdict,
    exitCode,
    counts,
    findings: findings.map(({ what, verdict: one, message, remedy }) => ({
      what,
      verdict: one,
      message,
      remedy: remedy ?? null,
    })),
  };
}

const words: Readonly<Record<Verdict, string>> = {
  ok: 'ok',
  warning: 'WARNING',
  problem: 'PROBLEM',
  'not-proven': 'not proven',
};

const styles: Readonly<Record<Verdict, Style>> = {
  ok: 'green',
  warning: 'yellow',
  problem: ['bold', 'red'],
  'not-proven': 'dim',
};

/** Where what a finding says begins. */
const messageColumn = 25;

/** A class as text: a heading, the lines of each finding, and below them the command that fixes it. */
export function classText(
  name: Class,
  findings: readonly Finding[],
  format: TextFormat = plainFormat,
  { prompt }: Pick<OperatingSystem, 'prompt'> = thisSystem,
): string {
  if (findings.length === 0) return '';
  const lines = findings.flatMap(({ what, verdict, message, remedy }) => [
    `  ${styled(styles[verdict], words[verdict].padEnd(11), format)}${what.slice(name.length + 1).padEnd(12)}${wrapped(message, messageColumn, format)}`,
    ...(remedy === undefined ? [] : [commandLine(`${prompt} ${remedy}`, format)]),
  ]);
  return `${styled('bold', name, format)}\n${lines.join('\n')}\n`;
}

/** While something takes long: what is waited for. */
export const waitingText = (sentence: string, format: TextFormat): string =>
  `  ${styled('dim', '…', format)}          ${wrapped(sentence, 13, format)}\n`;

/** Words in lines that begin at `column`; the first one is where the caller stands. */
const wrapped = (text: string, column: number, { width }: TextFormat): string =>
  wrap(text.split(' '), width - column).join(`\n${' '.repeat(column)}`);

/** On one line even where the terminal breaks it, so that it can be copied. */
const commandLine = (command: string, format: TextFormat): string => `    ${styled('cyan', command, format)}`;

/** The last line, and the only one that says the verdict. */
export function verdictText(
  findings: readonly Finding[],
  { offline }: { readonly offline: boolean },
  format: TextFormat = plainFormat,
): string {
  const { counts, exitCode } = judge(findings);
  const problems = findings.filter((one) => one.verdict === 'problem').map(({ what }) => what);
  const others = [
    many(counts.warning, 'warning'),
    `${counts.ok} ok`,
    counts['not-proven'] > 0 ? `${counts['not-proven']} not proven` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
  const verdict =
    problems.length > 0
      ? `${many(problems.length, 'problem')}: ${[...new Set(problems)].join(', ')} (exit ${exitCode}); ${others}.`
      : `No problem found: ${others}.`;
  const left = offline ? ' Network checks skipped (--offline).' : '';
  return `${wrapped(`${verdict}${left}`, 0, format)}\n`;
}

const many = (count: number, word: string): string => (count === 0 ? '' : `${count} ${word}${count === 1 ? '' : 's'}`);
