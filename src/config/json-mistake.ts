/** Mistakes in a JSON text. No message quotes more than a key of it: the rest may be a secret. */

/** The problem at the character `at`, and how to fix it: the first row that fits. `before` is the text up to it. */
const hints: readonly {
  readonly at: RegExp;
  readonly fits: (before: string, at: string) => boolean;
  readonly mistake: string;
  readonly fix: string;
}[] = [
  {
    at: /^(\/[/*]|#)/,
    fits: () => true,
    mistake: 'a comment',
    fix: 'JSON has none, write it as "$comment": "…" instead',
  },
  {
    at: /^[}\]]/,
    fits: (before) => /,\s*$/.test(before),
    mistake: 'a comma before the closing bracket',
    fix: 'remove the comma',
  },
  { at: /^./s, fits: (before) => before.endsWith('\\'), mistake: 'a single backslash', fix: 'write two of them' },
  // Other control characters are no text of a configuration either.
  {
    at: /^[\n\r\t]/,
    fits: () => true,
    mistake: 'a line break or tab in a text',
    fix: 'a quotation mark may be missing',
  },
  { at: /^['‘’“”]/, fits: () => true, mistake: 'another quotation mark than "', fix: 'JSON takes only this one' },
  { at: /^\uFEFF/, fits: () => true, mistake: 'a byte order mark', fix: 'remove it' },
  {
    at: /^\S/,
    fits: (before) => isJson(before),
    mistake: 'text after the end',
    fix: 'remove it, or a closing bracket before it',
  },
  {
    at: /^["{[\w-]/,
    fits: (before, at) => isOnlyTruncated(`${before},${at}`),
    mistake: 'a missing comma',
    fix: 'add it before this place',
  },
  {
    at: /^["{[\w-]/,
    fits: (before, at) => isOnlyTruncated(`${before}:${at}`),
    mistake: 'a missing colon',
    fix: 'add it before this place',
  },
  {
    at: /^\w/,
    fits: () => true,
    mistake: 'a word without quotation marks',
    fix: 'only true, false, null and numbers have none',
  },
];

/**
 * The first mistake of a text that is not JSON, with line and column. Node's own message quotes the text around it and often has no
 * position. Text that is cut off before the mistake fails at its end, text that is cut off after it fails at the mistake: a binary
 * search finds the border.
 */
export function describeMistake(text: string): string {
  if (text.trim() === '') return 'it is empty; expected at least {}';
  if (/^\uFFFD|\0/.test(text))
    return 'it is not UTF-8 but perhaps UTF-16, which > and Out-File of Windows PowerShell write; save it as UTF-8 (Notepad: Save as, PowerShell: Set-Content -Encoding UTF8)';
  if (isOnlyTruncated(text)) return 'it ends too early; a closing } or ] or a quotation mark is missing';
  let good = 0;
  let bad = text.length;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (isOnlyTruncated(text.slice(0, middle))) good = middle;
    else bad = middle;
  }
  const before = text.slice(0, good);
  const rest = text.slice(good);
  const hint = hints.find(({ at, fits }) => at.test(rest) && fits(before, rest.charAt(0)));
  return hint ? `${hint.mistake} ${placeOf(text, good)}; ${hint.fix}` : `syntax error ${placeOf(text, good)}`;
}

/** Keys that stand twice in one object of a JSON text, as dotted paths, each with the place of the second one; `$comment` may. */
export function duplicateKeys(json: string): readonly { readonly path: string; readonly place: string }[] {
  const found: { path: string; place: string }[] = [];
  /** The objects and lists around the token. */
  const around: { readonly keys: Set<string> | null; readonly path: string }[] = [];
  let path = '';
  for (const { 0: token, 1: isKey, index } of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
    if (token === '{' || token === '[') around.push({ keys: token === '{' ? new Set() : null, path });
    else if (token === '}' || token === ']') around.pop();
    else if (isKey !== undefined) {
      const { keys, path: outer = '' } = around.at(-1) ?? {};
      const key = String(JSON.parse(token.slice(0, -isKey.length)));
      path = outer === '' ? key : `${outer}.${key}`;
      if (keys?.has(key) && key !== '$comment') found.push({ path, place: placeOf(json, index) });
      keys?.add(key);
    }
  }
  return found;
}

function placeOf(text: string, index: number): string {
  const lines = text.slice(0, index).split('\n');
  return `at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether its only mistake, if any, is that it ends too early. */
function isOnlyTruncated(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = (error as Error).message;
    const position = /at position (\d+)/.exec(message)?.[1];
    return position === undefined ? !message.startsWith('Unexpected token') : Number(position) >= text.length;
  }
}
