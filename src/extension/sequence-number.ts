import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { runProgram } from '../service/program.ts';
import { replaceFile } from './replace-file.ts';
import { windowsProgram } from './windows-program.ts';

/** Azure counts in 32 bits. A longer number is another program's: as part of a file name it would be written as `1e+24`. */
const digits = '\\d{1,10}';
const isNumber = new RegExp(`^${digits}$`);
const isSettingsFile = new RegExp(`^(${digits})\\.settings$`);

// assumption: windows-extension-environment
/**
 * The number of the settings that a command is about: what the guest agent says, else that of the settings written last. The highest
 * number is not the newest: after a redeployment Azure counts from 0 again. Null where there are none.
 */
export function sequenceNumber(env: NodeJS.ProcessEnv, configFolder: string): number | null {
  const said = env.ConfigSequenceNumber ?? '';
  return isNumber.test(said) ? Number(said) : newestIn(configFolder);
}

function newestIn(folder: string): number | null {
  const found = namesIn(folder)
    .flatMap((name) => {
      const [, number] = isSettingsFile.exec(name) ?? [];
      return number === undefined
        ? []
        : [
            {
              number: Number(number),
              writtenMs: statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0,
            },
          ];
    })
    .toSorted((a, b) => b.writtenMs - a.writtenMs || b.number - a.number);
  return found[0]?.number ?? null;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The settings that were applied last. */
export interface AppliedSettings {
  readonly number: number;
  /** As `hashOf` returned it: a machine that was created from an image of another one has that one's number. Null: a version before stored none. */
  readonly hash: string | null;
}

/** Remembers them. Where they cannot be read, the settings count as new. */
export interface AppliedSequence {
  read(): Promise<AppliedSettings | null>;
  write(applied: AppliedSettings): Promise<void>;
  /** For the end of a handler. */
  forget(): Promise<void>;
}

/** On Linux a file, which the guest agent copies from the old version of a handler to the new one: the number, and the hash below it. */
export function inFile(folder: string): AppliedSequence {
  const file = join(folder, 'mrseq');
  return {
    async read() {
      try {
        return appliedIn(readFileSync(file, 'utf8'));
      } catch {
        return null;
      }
    },
    write: async ({ number, hash }) => replaceFile(file, `${number}\n${hash ?? ''}\n`, 0o600),
    forget: async () => rmSync(file, { force: true }),
  };
}

function appliedIn(text: string): AppliedSettings | null {
  const [number = '', hash] = text.trim().split(/\s+/);
  return isNumber.test(number) ? { number: Number(number), hash: hash ?? null } : null;
}

const registryMs = 10_000;
const [numberValue, hashValue] = ['SequenceNumber', 'SettingsHash'];

// assumption: windows-extension-registry
/** The key of a handler on Windows. `folder` is `…\<name>\<version>`. */
export const registryKey = (folder: string): string =>
  `HKLM\\Software\\Microsoft\\Windows Azure\\HandlerState\\${win32.basename(win32.dirname(folder))}_${win32.basename(folder)}`;

/** Arguments of `reg`, which reads and writes it: one call each. */
export const registryQuery = (folder: string): readonly string[] => ['query', registryKey(folder)];
/** The hash comes first: without the number that belongs to it, it counts for nothing. */
export const registryWrites = (folder: string, { number, hash }: AppliedSettings): readonly (readonly string[])[] => [
  ['add', registryKey(folder), '/v', hashValue, '/t', 'REG_SZ', '/d', hash ?? '', '/f'],
  ['add', registryKey(folder), '/v', numberValue, '/t', 'REG_DWORD', '/d', `${number}`, '/f'],
];
/** The key itself belongs to the guest agent. */
export const registryDeletes = (folder: string): readonly (readonly string[])[] =>
  [numberValue, hashValue].map((value) => ['delete', registryKey(folder), '/v', value, '/f']);

/** What `reg query` prints: `    SequenceNumber    REG_DWORD    0x5`, a line for each value of the key. */
export function appliedInRegistry(printed: string): AppliedSettings | null {
  const [, number] = /^\s*SequenceNumber\s+REG_DWORD\s+0x([0-9a-f]+)\s*$/im.exec(printed) ?? [];
  const [, hash = null] = /^\s*SettingsHash\s+REG_SZ\s+([0-9a-f]+)\s*$/im.exec(printed) ?? [];
  return number === undefined ? null : { number: Number.parseInt(number, 16), hash };
}

/** On Windows in the registry, where the guest agent looks for the number. */
export function inRegistry(folder: string, env: NodeJS.ProcessEnv): AppliedSequence {
  const reg = (args: readonly string[]) =>
    runProgram(windowsProgram(env, 'reg.exe'), args, { env, timeoutMs: registryMs });
  return {
    async read() {
      const { code, out } = await reg(registryQuery(folder));
      return code === 0 ? appliedInRegistry(out) : null;
    },
    async write(applied) {
      for (const args of registryWrites(folder, applied)) await reg(args);
    },
    async forget() {
      for (const args of registryDeletes(folder)) await reg(args);
    },
  };
}
