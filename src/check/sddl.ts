import { serviceSid } from '../service/windows/acl.ts';

/**
 * Who may read and change a file or folder of Windows: accounts by name, without those that may do everything anyway (the system,
 * administrators, the account of the service).
 */
export interface AccessRights {
  readonly readers: readonly Account[];
  /** Who may change its content, remove it, or give others the right to. */
  readonly writers: readonly Account[];
}

export interface Account {
  readonly name: string;
  /** A group of which every user of the machine is a member, or may be. */
  readonly isEveryone: boolean;
}

// assumption: windows-access-rights
/**
 * The rights that a security descriptor in SDDL grants. Unlike the output of icacls, SDDL is the same in every language of Windows.
 * Null where it is none.
 * https://learn.microsoft.com/windows/win32/secauthz/security-descriptor-string-format
 */
export function rightsIn(sddl: string): AccessRights | null {
  const [, owner = null] = /^O:(S-[\d-]+|[A-Z]{2})/.exec(sddl) ?? [];
  const [, flags, list = ''] = /(?:^|[^(;])D:([A-Z_]*)((?:\(.*?\))*)(?=S:|$)/.exec(sddl) ?? [];
  if (flags === undefined) return null;
  const granted = flags.includes('NO_ACCESS_CONTROL') ? new Map([['WD', everything]]) : grantedBy(entriesIn(list));
  // An owner may always change the rights, unless an entry for OWNER RIGHTS says what else it may do.
  if (owner !== null && !granted.has('OW')) grant(granted, sidOf(owner), changeRights);
  const allowed = (mask: number): readonly Account[] =>
    [...granted].filter(([sid, rights]) => (rights & mask) !== 0 && !isTrusted(sid)).map(([sid]) => accountOf(sid));
  return { readers: allowed(readContent), writers: allowed(change) };
}

interface Entry {
  readonly isDenial: boolean;
  readonly mask: number;
  readonly sid: string;
}

/** https://learn.microsoft.com/windows/win32/secauthz/ace-strings; a condition behind the account is taken as met. */
function entriesIn(list: string): readonly Entry[] {
  return [...list.matchAll(/\((X?O?[ADU]|OA|OD);([A-Z]*);([^;]*);[^;]*;[^;]*;(S-[\d-]+|[A-Z]{2})/g)].map(
    ([, type = '', , rights = '', sid = '']) => ({
      isDenial: type.endsWith('D'),
      mask: maskOf(rights),
      sid: sidOf(sid),
    }),
  );
}

/** In their order: a denial takes away only what comes after it, as Windows evaluates them. */
function grantedBy(entries: readonly Entry[]): Map<string, number> {
  const granted = new Map<string, number>();
  const denied = new Map<string, number>();
  for (const { isDenial, mask, sid } of entries) {
    if (isDenial) grant(denied, sid, mask);
    else grant(granted, sid, mask & ~((denied.get(sid) ?? 0) | (denied.get('WD') ?? 0)));
  }
  return granted;
}

const grant = (rights: Map<string, number>, sid: string, mask: number): void =>
  void rights.set(sid, (rights.get(sid) ?? 0) | mask);

const readContent = 0x1;
const changeRights = 0x4_0000;
/** Write or append content, remove what is in a folder, remove it, change its rights or its owner. */
const change = 0x2 | 0x4 | 0x40 | 0x1_0000 | changeRights | 0x8_0000;
const everything = 0x1f_01ff;

/** What the letters mean for files. https://learn.microsoft.com/windows/win32/fileio/file-security-and-access-rights */
const masks: Readonly<Record<string, number>> = {
  GA: everything,
  FA: everything,
  GR: 0x12_0089,
  FR: 0x12_0089,
  GW: 0x12_0116,
  FW: 0x12_0116,
  GX: 0x12_00a0,
  FX: 0x12_00a0,
  CC: 0x1,
  DC: 0x2,
  LC: 0x4,
  SW: 0x8,
  RP: 0x10,
  WP: 0x20,
  DT: 0x40,
  LO: 0x80,
  CR: 0x100,
  SD: 0x1_0000,
  RC: 0x2_0000,
  WD: changeRights,
  WO: 0x8_0000,
};

const maskOf = (rights: string): number =>
  /^\d/.test(rights)
    ? Number(rights)
    : (rights.match(/[A-Z]{2}/g) ?? []).reduce((mask, letters) => mask | (masks[letters] ?? 0), 0);

/** Well-known accounts by the letters of SDDL. https://learn.microsoft.com/windows/win32/secauthz/sid-strings */
const wellKnown: Readonly<
  Record<string, { readonly sid: RegExp; readonly name: string; readonly is?: 'trusted' | 'everyone' }>
> = {
  SY: { sid: /^S-1-5-18$/, name: 'SYSTEM', is: 'trusted' },
  BA: { sid: /^S-1-5-32-544$/, name: 'Administrators', is: 'trusted' },
  LA: { sid: /^S-1-5-21-.*-500$/, name: 'the local administrator', is: 'trusted' },
  DA: { sid: /^S-1-5-21-.*-512$/, name: 'Domain Admins', is: 'trusted' },
  EA: { sid: /^S-1-5-21-.*-519$/, name: 'Enterprise Admins', is: 'trusted' },
  OW: { sid: /^S-1-3-4$/, name: 'OWNER RIGHTS', is: 'trusted' },
  // Only inherited by what is created, where the creator takes its place.
  CO: { sid: /^S-1-3-0$/, name: 'CREATOR OWNER', is: 'trusted' },
  CG: { sid: /^S-1-3-1$/, name: 'CREATOR GROUP', is: 'trusted' },
  WD: { sid: /^S-1-1-0$/, name: 'Everyone', is: 'everyone' },
  AU: { sid: /^S-1-5-11$/, name: 'Authenticated Users', is: 'everyone' },
  BU: { sid: /^S-1-5-32-545$/, name: 'Users', is: 'everyone' },
  IU: { sid: /^S-1-5-4$/, name: 'INTERACTIVE', is: 'everyone' },
  NU: { sid: /^S-1-5-2$/, name: 'NETWORK', is: 'everyone' },
  AN: { sid: /^S-1-5-7$/, name: 'ANONYMOUS LOGON', is: 'everyone' },
  BG: { sid: /^S-1-5-32-546$/, name: 'Guests', is: 'everyone' },
  LG: { sid: /^S-1-5-21-.*-501$/, name: 'the guest account', is: 'everyone' },
  DU: { sid: /^S-1-5-21-.*-513$/, name: 'Domain Users', is: 'everyone' },
  DG: { sid: /^S-1-5-21-.*-514$/, name: 'Domain Guests', is: 'everyone' },
  AC: { sid: /^S-1-15-2-1$/, name: 'ALL APPLICATION PACKAGES', is: 'everyone' },
  PU: { sid: /^S-1-5-32-547$/, name: 'Power Users' },
  LS: { sid: /^S-1-5-19$/, name: 'LOCAL SERVICE' },
  NS: { sid: /^S-1-5-20$/, name: 'NETWORK SERVICE' },
  SU: { sid: /^S-1-5-6$/, name: 'SERVICE' },
};

/** The letters of a well-known account, else its SID as it is. */
const sidOf = (text: string): string => Object.entries(wellKnown).find(([, { sid }]) => sid.test(text))?.[0] ?? text;

const trustedServices = ['scheduled-events-bridge', 'TrustedInstaller'].map(serviceSid);

const isTrusted = (sid: string): boolean => wellKnown[sid]?.is === 'trusted' || trustedServices.includes(sid);

const accountOf = (sid: string): Account => {
  const { name = `the account ${sid}`, is } = wellKnown[sid] ?? {};
  return { name, isEveryone: is === 'everyone' };
};

/** Accounts in words, after those that may do everything. */
export const listed = (accounts: readonly Account[]): string =>
  accounts.length === 0
    ? 'administrators and the service'
    : accounts.map(({ name, isEveryone }) => (isEveryone ? `${name} (every user)` : name)).join(', ');
