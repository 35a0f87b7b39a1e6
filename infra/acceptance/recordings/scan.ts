/** A place in a recording where something identifying is left. What it is, is not repeated here. */
export interface Leak {
  /** Counted from 1. */
  readonly line: number;
  readonly rule: string;
}

/**
 * Finds what must not be in an anonymised recording: the given secrets in any encoding, and every id, address, date or name that has not the
 * form of a pseudonym. It checks `anonymise.ts`, and therefore shares no code with it.
 */
export function findLeaks(recording: string, secrets: readonly string[] = []): readonly Leak[] {
  return recording
    .split('\n')
    .flatMap((text, index) => rulesBroken(text, secrets).map((rule) => ({ line: index + 1, rule })));
}

function rulesBroken(text: string, secrets: readonly string[]): readonly string[] {
  if (text === '') return [];
  const views = viewsOf(text);
  const found = secrets.filter((secret) => views.some((view) => holds(view, secret)));
  const line = parsed(text);
  return [
    ...found.map(() => 'a planted or known name'),
    ...Object.entries(forbidden).flatMap(([rule, isBroken]) => (views.some(isBroken) ? [rule] : [])),
    ...(line === undefined ? ['not JSON'] : structureBroken(line)),
  ];
}

/** The text as it is and with each encoding undone. */
function viewsOf(text: string): readonly string[] {
  const unescaped = text.replace(/\\+u([0-9a-f]{4})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const plain = [text, unescaped, text.replace(/\\+(["\\/])/g, '$1')];
  const percent = plain.map(withoutPercent);
  const twice = percent.map(withoutPercent);
  const html = plain.map(withoutEntities);
  const views = [...plain, ...percent, ...twice, ...percent.map((view) => view.replaceAll('+', ' ')), ...html];
  return [...new Set([...views, ...decodedRuns(text)])];
}

function withoutPercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

function withoutEntities(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (entity, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name] ?? entity;
    const code = decimal === undefined ? Number.parseInt(hex ?? '0', 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
  });
}

/** Whatever may be base64, decoded from each of its first four characters on: it may begin within a longer word. */
function decodedRuns(text: string): readonly string[] {
  const runs = text.match(/[A-Za-z0-9+/_-]{6,}/g) ?? [];
  return runs.flatMap((run) =>
    [0, 1, 2, 3].flatMap((from) => {
      const bytes = Buffer.from(run.slice(from), 'base64');
      return [bytes.toString('utf8'), bytes.toString('utf16le'), bytes.subarray(1).toString('utf16le')];
    }),
  );
}

/** In any letter case and normal form. A secret of up to three characters counts only as a whole word, as it is in words too. */
function holds(view: string, secret: string): boolean {
  const [all, wanted] = [view.normalize('NFKC').toLowerCase(), secret.normalize('NFKC').toLowerCase()];
  if ([...secret].length > 3) return all.includes(wanted);
  const isLetter = (character: string | undefined): boolean =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character);
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + 1)) {
    if (!isLetter(all[at - 1]) && !isLetter(all[at + wanted.length])) return true;
  }
  return false;
}

/** Each with whether a view breaks it. The forms of pseudonyms: facade00-…, 192.0.2.1, 2001:db8::1, user-0@example.invalid, January 2026. */
const forbidden: Readonly<Record<string, (view: string) => boolean>> = {
  'a GUID': (view) =>
    [...view.matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi)].some(
      ([guid]) => !guid.toLowerCase().startsWith('facade00-0000-4000-a000-'),
    ),
  'an address': (view) =>
    [...view.matchAll(/(?<![\d.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?![\d.])/g)].some(
      ([address]) =>
        !/^(192\.0\.2|198\.51\.100|203\.0\.113)\./.test(address) &&
        !['169.254.169.254', '168.63.129.16', '127.0.0.1', '0.0.0.0'].includes(address),
    ),
  'an e-mail address': (view) =>
    [...view.matchAll(/[^\s"'<>@]+@[^\s"'<>@]+\.[a-z]{2,}/gi)].some(
      ([address]) => !address.includes('@example.invalid'),
    ),
  'a token or signature': (view) => /eyJ[A-Za-z0-9_-]{10,}\.|[?&;]sig=(?!\*)|SharedAccessKey=(?!\*)/i.test(view),
  'a subscription': (view) => /\/subscriptions\/(?!facade00)/i.test(view),
  'a date': (view) =>
    [...view.matchAll(/\d{4}-\d\d-\d\dT|\d\d? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4}/g)].some(
      ([date]) => !/^2025-12|^2026-0[1-3]| Dec 2025| (?:Jan|Feb|Mar) 2026/.test(date),
    ),
};

const pseudonym = /^_*(vm|scale-set|resource-group|host|identity|user|resource)-\d+(_[0-9a-z]+)?$/i;

function structureBroken(line: Readonly<Record<string, unknown>>): readonly string[] {
  const { vm, document } = line as { vm?: Readonly<Record<string, unknown>> | null; document?: { Events?: unknown } };
  const events = Array.isArray(document?.Events) ? document.Events : [];
  const resources = events.flatMap(({ Resources }: { Resources?: unknown }) =>
    Array.isArray(Resources) ? Resources : [],
  );
  const names = [...resources, vm?.name, vm?.scaleSet, vm?.resourceGroup].filter((name) => typeof name === 'string');
  return [
    ...(names.every((name) => name === '' || pseudonym.test(name)) ? [] : ['the name of a VM, scale set or group']),
    ...(vm !== null && vm !== undefined && 'tags' in vm ? ['tags'] : []),
  ];
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
