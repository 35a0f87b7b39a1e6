import { isIPv6 } from 'node:net';
import { base64Cores, namePattern } from './name-pattern.ts';
import { type KnownName, namesInResourceId } from './names.ts';
import * as patterns from './patterns.ts';
import { createPseudonyms, type Pseudonyms } from './pseudonyms.ts';
import { anyDate, type Shift } from './shift-dates.ts';
import { isAzureWord } from './vocabulary.ts';

/**
 * Replaces what identifies a subscription or a person in it: the known names in any encoding, GUIDs, addresses, e-mail addresses, and names in
 * resource ids and in hosts of Azure. Secrets, such as tokens, keys and signatures, become `***`. Times and everything else stay, and JSON
 * stays JSON. Over all calls of one mask, equal originals get equal pseudonyms.
 */
export type TextMask = (text: string) => string;

export function createTextMask(
  known: readonly KnownName[],
  pseudonyms: Pseudonyms = createPseudonyms(known),
): TextMask {
  return maskWith(passesFor(known, pseudonyms));
}

/** Moves dates too, and keeps only the words of Azure and short numbers: of any other text nothing remains but its punctuation in ASCII. */
export function createStrictMask(known: readonly KnownName[], pseudonyms: Pseudonyms, shift: Shift): TextMask {
  return maskWith([
    { pattern: anyDate, mask: (match) => shift.text(match) ?? pseudonyms.numbered('date', match) },
    ...passesFor(known, pseudonyms),
    {
      pattern: /[\p{L}\p{N}\p{M}_]+/gu,
      mask: (word) => (isAzureWord(word) ? null : pseudonyms.numbered('word', word.toLowerCase())),
    },
    { pattern: /[^\x20-\x7e\t\r\n]|@/gu, mask: () => '?' },
  ]);
}

function maskWith(passes: readonly Pass[]): TextMask {
  return (text) => {
    let segments: Segments = [text];
    for (const pass of passes) segments = segments.flatMap((segment) => split(segment, pass));
    return segments.map((segment) => (typeof segment === 'string' ? segment : segment.masked)).join('');
  };
}

/** What is masked is not looked at again. */
type Segments = readonly (string | { readonly masked: string })[];

interface Pass {
  /** With the flag g. */
  readonly pattern: RegExp;
  /** Null leaves the match as it is. @param groups of the pattern. */
  readonly mask: (match: string, groups: Readonly<Record<string, string | undefined>>) => string | null;
}

function split(segment: Segments[number], { pattern, mask }: Pass): Segments {
  if (typeof segment !== 'string') return [segment];
  const parts: Segments[number][] = [];
  let from = 0;
  for (const { 0: match, index, groups = {} } of segment.matchAll(pattern)) {
    const masked = match === '' ? null : mask(match, groups);
    if (masked === null) continue;
    parts.push(segment.slice(from, index), { masked });
    from = index + match.length;
  }
  return [...parts, segment.slice(from)].filter((part) => part !== '');
}

function passesFor(known: readonly KnownName[], pseudonyms: Pseudonyms): readonly Pass[] {
  // Longest first: a name may be a part of another.
  const names = known.filter(({ name }) => name.trim() !== '').sort((a, b) => b.name.length - a.name.length);
  const cores = names.flatMap(({ name }) => base64Cores(name)).flatMap((core) => [core, urlSafe(core)]);
  const anyName =
    names.length === 0
      ? null
      : new RegExp(names.map(({ name }, index) => `(?<name${index}>${namePattern(name)})`).join('|'), 'giu');
  const hides = (text: string): boolean =>
    [anyName, patterns.guid, patterns.eMail, patterns.ipv4, patterns.secretValue, patterns.jsonWebToken].some(
      (pattern) => pattern !== null && text.search(pattern) >= 0,
    );

  return [
    ...patterns.secrets.map((pattern) => ({ pattern, mask: () => '***' })),
    // A switch such as `"isSecret": true` is no secret, and must stay JSON.
    { pattern: patterns.secretValue, mask: (match) => (/^(true|false|null|-?[\d.]+)$/.test(match) ? null : '***') },
    {
      pattern: patterns.base64,
      mask: (match) => {
        const isHiding =
          cores.some((core) => match.includes(core)) || hides(Buffer.from(match, 'base64').toString('utf8'));
        return isHiding ? pseudonyms.numbered('base64', match) : null;
      },
    },
    { pattern: patterns.resourceId, mask: (match) => maskResourceId(match, pseudonyms) },
    { pattern: patterns.eMail, mask: (match) => `${pseudonyms.numbered('user', match.toLowerCase())}@example.invalid` },
    {
      pattern: patterns.hostOfAzure,
      mask: (_, { name = '', service = '' }) => `${pseudonyms.name('host', name)}${service}`,
    },
    { pattern: patterns.homeFolder, mask: (match) => pseudonyms.name('user', match) },
    ...(anyName === null ? [] : [{ pattern: anyName, mask: maskName }]),
    { pattern: patterns.guid, mask: pseudonyms.guid },
    { pattern: patterns.macAddress, mask: (match) => pseudonyms.numbered('mac', match.toLowerCase()) },
    { pattern: patterns.ipv4, mask: pseudonyms.address },
    { pattern: patterns.ipv6, mask: (match) => (isIPv6(match) ? pseudonyms.address(match) : null) },
  ];

  function maskName(match: string, groups: Parameters<Pass['mask']>[1]): string {
    const { kind, name } = names[Object.values(groups).findIndex((group) => group !== undefined)] ?? {
      kind: 'resource',
      name: match,
    };
    const isPlain = match.toLowerCase() === name.toLowerCase();
    return pseudonyms.name(kind, isPlain ? match : name);
  }
}

function maskResourceId(id: string, pseudonyms: Pseudonyms): string {
  const parts = id.split('/');
  for (const { kind, name, index } of namesInResourceId(id)) parts[index] = pseudonyms.name(kind, name);
  return parts.join('/').replaceAll(patterns.guid, pseudonyms.guid);
}

const urlSafe = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');
