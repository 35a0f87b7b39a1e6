/** A name that must not leave the run, with the kind that its pseudonym shows. Ids that are GUIDs, addresses and e-mail addresses need no entry. */
export interface KnownName {
  readonly kind: NameKind;
  readonly name: string;
}

export type NameKind = 'vm' | 'scale-set' | 'resource-group' | 'host' | 'identity' | 'user' | 'resource';

/**
 * The names in what a run found: in resource ids, in host names, and in every text under a key that ends with `name`, `group`, `user` or
 * `host`. `values` is any JSON, such as the run itself and the entries of `StepContext.found`.
 */
export function namesIn(...values: readonly unknown[]): readonly KnownName[] {
  const names = new Map<string, KnownName>();
  const add = (kind: NameKind, name: string): void => {
    if (name === '' || isGuid(name) || names.has(name.toLowerCase())) return;
    names.set(name.toLowerCase(), { kind, name });
  };
  for (const value of values) collect(value, '', add);
  return [...names.values()];
}

type Add = (kind: NameKind, name: string) => void;

function collect(value: unknown, key: string, add: Add): void {
  if (typeof value === 'string') collectText(value, key, add);
  else if (Array.isArray(value)) for (const entry of value) collect(entry, key, add);
  else if (value !== null && typeof value === 'object') {
    const entries = value instanceof Map ? value : Object.entries(value);
    for (const [inner, entry] of entries) collect(entry, keyWithin(key, String(inner)), add);
  }
}

/** The name of a user and those of groups have keys that say so only together with the key around them. */
function keyWithin(around: string, key: string): string {
  if (/groups$/i.test(around)) return 'resourceGroup';
  return key === 'name' && /user$/i.test(around) ? 'userName' : key;
}

function collectText(text: string, key: string, add: Add): void {
  for (const { kind, name } of namesInResourceId(text)) add(kind, name);
  const host =
    URL.canParse(text) && /^\w+:\/\//.test(text) ? new URL(text).hostname : hostShape.test(text) ? text : null;
  if (host !== null) {
    const [first = ''] = host.split('.');
    if (!isPublicHost(host)) add('host', first);
    return;
  }
  const kind = kindOfKey(key);
  if (kind !== null && !text.includes('/')) add(kind, text);
}

const hostShape = /^[a-z0-9-]+(\.[a-z0-9-]+){2,}$/i;

/** Hosts that are the same for every customer. */
const isPublicHost = (host: string): boolean =>
  /^(management|login|api|portal|learn|aka|graph|monitor)\./.test(host) || /^[\d.]+$/.test(host);

function kindOfKey(key: string): NameKind | null {
  if (/location|region|displayName$|sku|typeName$/i.test(key)) return null;
  if (/scaleSet(Name)?$/i.test(key)) return 'scale-set';
  if (/(vm|machine)Name$|^name$/i.test(key)) return 'vm';
  if (/group(Name)?$/i.test(key)) return 'resource-group';
  if (/identity(Name)?$/i.test(key)) return 'identity';
  if (/user(Name)?$|upn$/i.test(key)) return 'user';
  if (/(host|computer)(Name)?$/i.test(key)) return 'host';
  return /name$|namespace$|hub$|workspace$/i.test(key) ? 'resource' : null;
}

/** Names in `/subscriptions/…/resourceGroups/NAME/providers/NAMESPACE/TYPE/NAME/…`. */
export function namesInResourceId(id: string): readonly (KnownName & { readonly index: number })[] {
  const parts = id.split('/');
  if (parts[0] !== '' || parts[1]?.toLowerCase() !== 'subscriptions') return [];
  const names: (KnownName & { index: number })[] = [];
  let typed = -1;
  parts.forEach((part, index) => {
    const before = parts[index - 1]?.toLowerCase() ?? '';
    if (before === 'resourcegroups') names.push({ kind: 'resource-group', name: part, index });
    if (before === 'providers') typed = index + 1;
    else if (typed > 0 && index > typed && (index - typed) % 2 === 1) {
      names.push({ kind: kindOfType(before), name: part, index });
    }
  });
  // The instance of a uniform scale set is a number.
  return names.filter(({ name }) => name !== '' && !isGuid(name) && !/^\d+$/.test(name));
}

function kindOfType(type: string): NameKind {
  if (type === 'virtualmachines') return 'vm';
  if (type === 'virtualmachinescalesets') return 'scale-set';
  return type === 'userassignedidentities' ? 'identity' : 'resource';
}

const isGuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
