import { createHash } from 'node:crypto';

/** Well-known security identifiers, which are the same in every language of Windows. https://learn.microsoft.com/windows-server/identity/ad-ds/manage/understand-security-identifiers */
const system = 'S-1-5-18';
const administrators = 'S-1-5-32-544';

// assumption: windows-installer-account
/**
 * The security identifier of a service, as `sc showsid` prints it: the SHA-1 of its name in capital letters and UTF-16, as five
 * numbers. It depends on the name only, so it is known before the service exists.
 * https://learn.microsoft.com/openspecs/windows_protocols/ms-dtyp/81d92bba-d22b-4a8c-908a-554ab29148ab
 */
export function serviceSid(name: string): string {
  const hash = createHash('sha1').update(Buffer.from(name.toUpperCase(), 'utf16le')).digest();
  return ['S-1-5-80', ...[0, 4, 8, 12, 16].map((at) => hash.readUInt32LE(at))].join('-');
}

/** `read` and `write` of a file or of everything in a folder; `enter`: a folder itself, not what is in it. */
export type Access = 'read' | 'write' | 'enter';

// assumption: windows-installer-permissions
/** As icacls takes them. OI and CI: files and folders in it inherit. https://learn.microsoft.com/windows-server/administration/windows-commands/icacls */
const permissions = {
  file: { read: '(R)', write: '(M)', enter: '(RX)' },
  folder: { read: '(OI)(CI)(RX)', write: '(OI)(CI)(M)', enter: '(RX)' },
} as const;

/** Arguments of icacls: administrators and the system have all rights, the service those of `access`, and no other user any. */
export function onlyFor(kind: 'file' | 'folder', path: string, sid: string, access: Access | null): string[] {
  const full = kind === 'file' ? '(F)' : '(OI)(CI)(F)';
  const own = access === null ? [] : [`*${sid}:${permissions[kind][access]}`];
  return [path, '/inheritance:r', '/grant:r', `*${system}:${full}`, `*${administrators}:${full}`, ...own, '/Q'];
}

/** Arguments of icacls: in addition to what the folder inherits, the service may do this. */
export const alsoFor = (path: string, sid: string, access: Access): string[] => [
  path,
  '/grant:r',
  `*${sid}:${permissions.folder[access]}`,
  '/Q',
];

/** Arguments of icacls, one call each: a tree belongs to administrators, and has only what it inherits. Links are not followed. */
export const takeOver = (path: string): string[][] => [
  [path, '/setowner', `*${administrators}`, '/T', '/L', '/Q'],
  [path, '/reset', '/T', '/L', '/Q'],
];

/** The rights of one identity in the Security Descriptor Definition Language. */
interface Entry {
  readonly type: string;
  readonly rights: string;
  readonly identity: string;
}

const names: Readonly<Record<string, string>> = { SY: system, BA: administrators };

/**
 * Whether the access control list that the service host has printed admits only the system, administrators and this service.
 * https://learn.microsoft.com/windows/win32/secauthz/security-descriptor-string-format
 */
export function admitsOnly(printed: string, sid: string): boolean {
  const [, flags = '', list = ''] = /D:([A-Z]*)((?:\([^)]*\))+)/.exec(printed) ?? [];
  const entries = [...list.matchAll(/\(([^)]*)\)/g)].map(([, text = '']): Entry => {
    const [type = '', , rights = '', , , identity = ''] = text.split(';');
    return { type, rights, identity: names[identity] ?? identity };
  });
  const identities = new Set(entries.map(({ identity }) => identity));
  return (
    flags.includes('P') &&
    entries.every(({ type }) => type === 'A') &&
    identities.size === 3 &&
    [system, administrators, sid].every((identity) => identities.has(identity))
  );
}
