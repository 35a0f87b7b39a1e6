import { type Class, type Finding, type Judgement, judge, type Verdict } from './finding.ts';

/** How a reader knows the form; the number grows when something that was there is gone. */
export const reportVersion = 1;

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
  readonly findings: readonly { readonly what: string; verdict: Verdict; says: string; mend: string | null }[];
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
    findings: findings.map(({ what, verdict: one, says, mend }) => ({ what, verdict: one, says, mend: mend ?? null })),
  };
}

const words: Readonly<Record<Verdict, string>> = {
  ok: 'ok',
  warning: 'WARNING',
  problem: 'PROBLEM',
  'not-proven': 'not proven',
};

/** A class as a person reads it: a heading, a line for each finding, and below it the command that mends. */
export function classText(name: Class, findings: readonly Finding[]): string {
  if (findings.length === 0) return '';
  const lines = findings.flatMap(({ what, verdict, says, mend }) => [
    `  ${words[verdict].padEnd(11)}${what.slice(name.length + 1).padEnd(12)}${says}`,
    ...(mend === undefined ? [] : [`${' '.repeat(25)}$ ${mend}`]),
  ]);
  return `${name}\n${lines.join('\n')}\n`;
}

/** The last line. */
export function verdictText(findings: readonly Finding[], { offline }: { readonly offline: boolean }): string {
  const { counts, first, exitCode } = judge(findings);
  const parts = [
    many(counts.problem, 'problem'),
    many(counts.warning, 'warning'),
    counts['not-proven'] > 0 ? `${counts['not-proven']} not proven` : '',
    `${counts.ok} ok`,
  ].filter((part) => part !== '');
  const left = offline ? ' What needs the network was left out (--offline).' : '';
  if (first) return `${parts.join(', ')}. Begin with ${first.what} (exit code ${exitCode}).${left}\n`;
  return `${counts.warning > 0 ? 'No problem' : 'All is well'}: ${parts.join(', ')}.${left}\n`;
}

const many = (count: number, word: string): string => (count === 0 ? '' : `${count} ${word}${count === 1 ? '' : 's'}`);
