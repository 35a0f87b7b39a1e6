import type { KnownName, NameKind } from './names.ts';

/** The same original always gets the same pseudonym, numbered in the order in which they are asked for. */
export interface Pseudonyms {
  /**
   * `vm-0`, `scale-set-1`. Conventions of Azure's names stay: the `_` in front that api-version 2017-03-01 wrote, `_<number>` of a uniform
   * scale set's instance, `_<hexadecimal>` of a flexible one's, and whether the letters are upper case.
   */
  name(kind: NameKind, original: string): string;
  /** `facade00-0000-4000-a000-…`, in the letter case of the original, and without hyphens where it has none. */
  guid(original: string): string;
  /** An address that is reserved for documents (RFC 5737, RFC 3849). Azure's own well-known ones stay. */
  address(original: string): string;
  /** `KIND-0`, for anything without a form to keep. */
  numbered(kind: string, original: string): string;
  /** How many originals were replaced, by kind; nothing of the originals. */
  readonly replaced: Readonly<Record<string, number>>;
}

/** The metadata service, the WireServer, this machine: the same for all VMs. */
const wellKnownAddresses = ['169.254.169.254', '168.63.129.16', '127.0.0.1', '0.0.0.0', '::1'];

/** @param known their pseudonyms show their kinds wherever they are found, and no pseudonym contains one of them. */
export function createPseudonyms(known: readonly KnownName[] = []): Pseudonyms {
  const given = new Map<string, string>();
  const replaced: Record<string, number> = {};
  const kinds = new Map<string, NameKind>();
  const add = ({ kind, name }: KnownName): void => void (kinds.has(keyOf(name)) || kinds.set(keyOf(name), kind));
  known.forEach(add);
  const scaleSets = known
    .filter(({ kind, name }) => kind === 'scale-set' && name !== '')
    .map(({ name }) => keyOf(name));
  const taken = [...kinds.keys()];
  const next = new Map<string, number>();

  const once = (kind: string, original: string, make: (index: number) => string): string => {
    const key = `${kind} ${original}`;
    const before = given.get(key);
    if (before !== undefined) return before;
    for (;;) {
      const index = next.get(kind) ?? 0;
      next.set(kind, index + 1);
      const made = make(index);
      // The name of a VM that is called vm-1 must not be the pseudonym of another.
      if (index < mostSkipped && taken.some((name) => /\d/.test(name) && keyOf(made).includes(name))) continue;
      given.set(key, made);
      replaced[kind] = (replaced[kind] ?? 0) + 1;
      return made;
    }
  };
  const ofKind = (kind: NameKind, name: string): string => {
    const key = keyOf(name);
    const shown = kinds.get(key) ?? kind;
    kinds.set(key, shown);
    return inCaseOf(
      name,
      once(shown, key, (index) => `${shown}-${index}`),
    );
  };

  return {
    replaced,
    name(kind, original) {
      const [, underscores = '', name = ''] = /^(_*)(.*)$/s.exec(original) ?? [];
      if (name === '') return original;
      const set = scaleSets.find((set) => keyOf(name).startsWith(`${set}_`));
      const [, base = name, suffix = ''] =
        set === undefined
          ? (/^(.+)_(\d{1,6})$/s.exec(name) ?? [])
          : [name, name.slice(0, set.length), name.slice(set.length + 1)];
      if (suffix === '') return underscores + ofKind(kind, name);
      return `${underscores}${ofKind(kind, base)}_${instance(suffix, once)}`;
    },
    guid(original) {
      const hex = original.replaceAll('-', '').toLowerCase();
      const fake = once('guid', hex, (index) => `facade00-0000-4000-a000-${index.toString(16).padStart(12, '0')}`);
      return inCaseOf(original, original.includes('-') ? fake : fake.replaceAll('-', ''));
    },
    address(original) {
      if (wellKnownAddresses.includes(original)) return original;
      const key = original.toLowerCase();
      if (original.includes(':')) return once('address', key, (index) => `2001:db8::${(index + 1).toString(16)}`);
      return once('address', key, (index) => `${documentNets[Math.floor(index / 254) % 3]}.${(index % 254) + 1}`);
    },
    numbered: (kind, original) => once(kind, original, (index) => `${kind}-${index}`),
  };
}

/** Before a pseudonym that contains a known name is accepted: a VM may be called `-`. */
const mostSkipped = 1000;
const documentNets = ['192.0.2', '198.51.100', '203.0.113'];

const keyOf = (name: string): string => name.normalize('NFC').toLowerCase();

/** The part after the `_` of an instance: a number stays. Anything else keeps its length and a letter, so that it is not taken for a number. */
function instance(
  suffix: string,
  once: (kind: string, original: string, make: (index: number) => string) => string,
): string {
  if (/^\d{1,6}$/.test(suffix)) return suffix;
  return once(
    'instance',
    suffix.toLowerCase(),
    (index) => `a${index.toString(16).padStart(Math.min(suffix.length, 8) - 1, '0')}`,
  );
}

/** @returns `made` in upper case if `original` is, capitalised if it has letters of both cases, otherwise as it is. */
function inCaseOf(original: string, made: string): string {
  const [lower, upper] = [original.toLowerCase(), original.toUpperCase()];
  if (original === lower) return made;
  return original === upper ? made.toUpperCase() : `${made.slice(0, 1).toUpperCase()}${made.slice(1)}`;
}
