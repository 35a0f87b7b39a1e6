import { unsupported } from './unsupported.ts';

/**
 * The regular expression of Kusto (RE2) as one of JavaScript with the same meaning; what has none is refused.
 * https://learn.microsoft.com/kusto/query/regex
 */
export function regexOf(pattern: string, flags = ''): RegExp {
  const options = /^\(\?([ims]+)\)/.exec(pattern);
  const given = options?.[1] ?? '';
  const source = translated(pattern.slice(options?.[0].length ?? 0), given.includes('s'));
  const all = new Set([...flags, 'u', ...given.replace('s', '')]);
  try {
    return new RegExp(source, [...all].join(''));
  } catch {
    return unsupported(`the regular expression ${pattern}`);
  }
}

const digit = '\\p{Nd}';
const word = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200C\\u200D';
const space = '\\s';
const border = `(?:(?<=[${word}])(?![${word}])|(?<![${word}])(?=[${word}]))`;

/** Classes know the letters, digits and spaces of every script. */
const anywhere: Readonly<Record<string, string>> = {
  d: digit,
  D: '\\P{Nd}',
  w: `[${word}]`,
  W: `[^${word}]`,
  s: space,
  S: '\\S',
  A: '^',
  z: '$',
  b: border,
};

const insideClass: Readonly<Record<string, string>> = { d: digit, w: word, s: space, D: '\\P{Nd}', S: '\\S' };

const posix: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: '0-9A-Za-z',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\t\\n\\v\\f\\r ',
  xdigit: '0-9A-Fa-f',
  word: '0-9A-Za-z_',
};

function translated(pattern: string, isDotAll: boolean): string {
  let source = '';
  let isInside = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern.charAt(at);
    if (character === '\\') {
      at++;
      source += escaped(pattern.charAt(at), isInside);
    } else if (isInside) {
      const named = /^\[:(\w+):\]/.exec(pattern.slice(at));
      if (named) {
        source += posix[named[1] ?? ''] ?? unsupported(`[:${named[1]}:] in a regular expression`);
        at += named[0].length - 1;
        continue;
      }
      if (character === '[') source += '\\[';
      else source += character;
      if (character === ']' && !/\[\^?$/.test(source.slice(0, -1))) isInside = false;
    } else if (character === '[') {
      isInside = true;
      source += character;
    } else if (character === '.') {
      source += isDotAll ? '[^]' : '[^\\n]';
    } else if (character === '(' && pattern.charAt(at + 1) === '?') {
      const group = /^\(\?(?:P?<(\w+)>|(:))/.exec(pattern.slice(at));
      if (!group) return unsupported(`a group of the regular expression ${pattern}`);
      source += group[1] === undefined ? '(?:' : `(?<${group[1]}>`;
      at += group[0].length - 1;
    } else {
      source += bare(character, pattern, at);
    }
  }
  return source;
}

/** Braces and brackets that stand for themselves must be escaped in JavaScript. */
function bare(character: string, pattern: string, at: number): string {
  if (character === '{') return /^\{\d+(,\d*)?\}/.test(pattern.slice(at)) ? character : '\\{';
  if (character === '}') return /\{\d+(,\d*)?$/.test(pattern.slice(0, at)) ? character : '\\}';
  return character === ']' ? '\\]' : character;
}

function escaped(character: string, isInside: boolean): string {
  if (/[tnfrv]/.test(character)) return `\\${character}`;
  if (/[\w]/.test(character)) {
    const known = (isInside ? insideClass : anywhere)[character];
    return known ?? unsupported(`\\${character} in a regular expression`);
  }
  if (character === '') return unsupported('a regular expression that ends with \\');
  return /[\^$\\.*+?()[\]{}|/-]/.test(character)
    ? character === '-' && !isInside
      ? '-'
      : `\\${character}`
    : character;
}

/** `matches regex`. */
export const matchesRegex = (text: string, pattern: string): boolean => regexOf(pattern).test(text);
