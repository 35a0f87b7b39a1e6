import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, win32 } from 'node:path';
import { runProgram } from '../service/program.ts';
import { replaceFile } from './replace-file.ts';
import { windowsProgram } from './windows-program.ts';

/**
 * The number of the settings that a command is about: what the guest agent says, else that of the settings written last. The highest
 * number is not the newest: after a redeployment Azure counts from 0 again. Null where there are none.
 */
export function sequenceNumber(env: NodeJS.ProcessEnv, configFolder: string): number | null {
  const said = env.ConfigSequenceNumber ?? '';
  return /^\d+$/.test(said) ? Number(said) : newestIn(configFolder);
}

function newestIn(folder: string): number | null {
  const found = namesIn(folder)
    .flatMap((name) => {
      const [, number] = /^(\d+)\.settings$/.exec(name) ?? [];
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

/** Remembers the settings that were applied last. Where it cannot be read, they count as new. */
export interface AppliedSequence {
  read(): Promise<number | null>;
  write(number: number): Promise<void>;
  /** For the end of a handler. */
  forget(): Promise<void>;
}

/** On Linux a file, which the guest agent copies from the old version of a handler to the new one. */
export function inFile(folder: string): AppliedSequence {
  const file = join(folder, 'mrseq');
  return {
    async read() {
      try {
        return numberIn(readFileSync(file, 'utf8'));
      } catch {
        return null;
      }
    },
    write: async (number) => replaceFile(file, `${number}`, 0o600),
    forget: async () => rmSync(file, { force: true }),
  };
}

const numberIn = (text: string): number | null => (/^\s*\d+\s*$/.test(text) ? Number(text) : null);

const registryMs = 10_000;
const registryValue = 'SequenceNumber';

/** The key of a handler on Windows. `folder` is `…\<name>\<version>`. */
export const registryKey = (folder: string): string =>
  `HKLM\\Software\\Microsoft\\Windows Azure\\HandlerState\\${win32.basename(win32.dirname(folder))}_${win32.basename(folder)}`;

/** Arguments of `reg`, which reads and writes it. */
export const registryQuery = (folder: string): readonly string[] => ['query', registryKey(folder), '/v', registryValue];
export const registryWrite = (folder: string, number: number): readonly string[] => [
  ...['add', registryKey(folder), '/v', registryValue, '/t', 'REG_DWORD', '/d', `${number}`, '/f'],
];
/** The key itself belongs to the guest agent. */
export const registryDelete = (folder: string): readonly string[] => [
  ...['delete', registryKey(folder), '/v', registryValue, '/f'],
];

/** What `reg query` prints: `    SequenceNumber    REG_DWORD    0x5`. */
export function numberInRegistry(printed: string): number | null {
  const [, digits] = /^\s*SequenceNumber\s+REG_DWORD\s+0x([0-9a-f]+)\s*$/im.exec(printed) ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}

/** On Windows in the registry, where the guest agent looks for it. */
export function inRegistry(folder: string, env: NodeJS.ProcessEnv): AppliedSequence {
  const reg = (args: readonly string[]) =>
    runProgram(windowsProgram(env, 'reg.exe'), args, { env, timeoutMs: registryMs });
  return {
    async read() {
      const { code, out } = await reg(registryQuery(folder));
      return code === 0 ? numberInRegistry(out) : null;
    },
    async write(number) {
      await reg(registryWrite(folder, number));
    },
    async forget() {
      await reg(registryDelete(folder));
    },
  };
}
