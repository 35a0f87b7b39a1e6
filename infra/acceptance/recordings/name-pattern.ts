/**
 * The source of a regular expression (flags `giu`) that finds a name as it is, percent-encoded once or twice, escaped as in JSON or HTML, or any
 * mixture of these. A name of up to three characters is found only as a whole word, because `a` is in every sentence, and a short one of letters
 * only not within a row of letters: `test` is in `latest`.
 */
export function namePattern(name: string): string {
  const forms = [...new Set([name, name.normalize('NFC'), name.normalize('NFD')])];
  const pattern = `(?:${forms.map((form) => [...form].map(anyFormOf).join('')).join('|')})`;
  if ([...name].length <= 3) return `(?<![\\p{L}\\p{N}])${pattern}(?![\\p{L}\\p{N}])`;
  return /^\p{L}{1,8}$/u.test(name) ? `(?<!\\p{L})${pattern}(?!\\p{L})` : pattern;
}

function anyFormOf(character: string): string {
  const bytes = [...Buffer.from(character)].map((byte) => byte.toString(16).padStart(2, '0'));
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const code = character.codePointAt(0) ?? 0;
  const forms = [
    literal(character),
    bytes.map((byte) => `%(?:25)*${byte}`).join(''),
    units.map((unit) => `\\\\+u${unit.toString(16).padStart(4, '0')}`).join(''),
    `&#0*${code};`,
    `&#x0*${code.toString(16)};`,
    ...(character in htmlNames ? [`&${htmlNames[character]};`] : []),
    ...(character === ' ' ? ['\\+'] : []),
    ...(character === '"' || character === '\\' || character === '/' ? [`\\\\+${literal(character)}`] : []),
  ];
  return `(?:${forms.join('|')})`;
}

const htmlNames: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** As a code point, which needs no escape whatever it is. */
const literal = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;

/**
 * What a name leaves in base64, wherever in the encoded bytes it begins: its core without the characters that it shares with its
 * neighbours. Also for UTF-16, which PowerShell encodes. Empty for names of under four characters, whose cores are found by chance.
 */
export function base64Cores(name: string): readonly string[] {
  if ([...name].length < 4) return [];
  const spellings = [...new Set([name, name.toLowerCase(), name.toUpperCase()])];
  const encoded = spellings.flatMap((spelling) => [Buffer.from(spelling), Buffer.from(spelling, 'utf16le')]);
  return [...new Set(encoded.flatMap((bytes) => [0, 1, 2].map((offset) => core(bytes, offset))))];
}

function core(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '');
  const first = Math.ceil((8 * offset) / 6);
  const end = Math.floor((8 * (offset + bytes.length)) / 6);
  return text.slice(first, end);
}
