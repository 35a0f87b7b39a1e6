import { unsupported } from './unsupported.ts';

/** A character that belongs to a term: letters and digits, of any script; `_` and punctuation part terms. */
const isTermCharacter = (character: string): boolean => /^[\p{L}\p{N}]$/u.test(character);

/**
 * Whether `text` contains `term` as a whole term.
 * https://learn.microsoft.com/kusto/query/datatypes-string-operators#what-is-a-term
 */
function hasTerm(text: string, term: string, borders: { before: boolean; after: boolean }): boolean {
  if (term === '') return true;
  if (!/[\p{L}\p{N}]/u.test(term)) return unsupported(`has with "${term}", which is no term`);
  for (let at = text.indexOf(term); at >= 0; at = text.indexOf(term, at + 1)) {
    const before = text.charAt(at - 1);
    const after = text.charAt(at + term.length);
    if (borders.before && isTermCharacter(before) && isTermCharacter(term.charAt(0))) continue;
    if (borders.after && isTermCharacter(after) && isTermCharacter(term.charAt(term.length - 1))) continue;
    return true;
  }
  return false;
}

export type Matcher = (text: string, pattern: string) => boolean;

const whole: Matcher = (text, pattern) => hasTerm(text, pattern, { before: true, after: true });

/** The case-sensitive string operators, by the name of their syntax without case and negation. */
const matchers: Readonly<Record<string, Matcher>> = {
  Has: whole,
  HasPrefix: (text, pattern) => hasTerm(text, pattern, { before: true, after: false }),
  HasSuffix: (text, pattern) => hasTerm(text, pattern, { before: false, after: true }),
  Contains: (text, pattern) => text.includes(pattern),
  StartsWith: (text, pattern) => text.startsWith(pattern),
  EndsWith: (text, pattern) => text.endsWith(pattern),
};

/** Case is folded as .NET's invariant culture does for the letters met in practice. */
export const folded = (text: string): string => text.toLowerCase();

const ignoringCase =
  (matcher: Matcher): Matcher =>
  (text, pattern) =>
    matcher(folded(text), folded(pattern));

/** The matcher of a string operator (`NotHasPrefixCsExpression`), or `undefined` for another expression. */
export function textMatcher(kind: string): { matches: Matcher; isNegated: boolean } | undefined {
  const parts = /^(Not)?(Has|HasPrefix|HasSuffix|Contains|StartsWith|EndsWith)(Cs)?Expression$/.exec(kind);
  const matcher = matchers[parts?.[2] ?? ''];
  if (!parts || !matcher) return undefined;
  return { matches: parts[3] ? matcher : ignoringCase(matcher), isNegated: parts[1] !== undefined };
}

export const hasWhole: Matcher = ignoringCase(whole);
