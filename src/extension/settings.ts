import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { messageOf } from '../log.ts';
import { Refusal } from '../service/refusals.ts';
import { isObject, withoutMark } from './handler-environment.ts';

/** The settings of an extension as the guest agent hands them over. */
export interface Settings {
  /** Null: none. */
  readonly publicSettings: unknown;
  readonly protectedSettings: EncryptedSettings | null;
}

export interface EncryptedSettings {
  /** A CMS message (RFC 5652) in DER. */
  readonly message: Buffer;
  /** SHA-1 of the certificate that it is encrypted to, in hexadecimal. */
  readonly thumbprint: string;
}

const attempts = 3;
const pauseMs = 1_000;

/**
 * Reads the settings with this number. Again where that fails: the guest agent may be writing them. Null where there is no such
 * file. @throws Refusal where the file is not what a guest agent writes.
 */
export async function readSettings(configFolder: string, number: number, clock: Clock): Promise<Settings | null> {
  const file = join(configFolder, `${number}.settings`);
  for (let attempt = 1; ; attempt += 1) {
    try {
      return settingsIn(readFileSync(file, 'utf8'));
    } catch (error) {
      const isLast = attempt === attempts;
      if (isLast && error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
      if (isLast) {
        throw new Refusal(
          'badConfiguration',
          `The settings of the extension in ${file} cannot be used: ${messageOf(error)}. Deploy the extension again.`,
        );
      }
      await clock.sleep(pauseMs);
    }
  }
}

/** An empty file means that the extension has no settings. @throws Error with the reason, a phrase that quotes nothing of the file. */
export function settingsIn(text: string): Settings {
  const content = withoutMark(text).trim();
  if (content === '') return { publicSettings: null, protectedSettings: null };
  const document = parsed(content);
  const list = isObject(document) ? document.runtimeSettings : undefined;
  const first: unknown = Array.isArray(list) ? list[0] : undefined;
  const settings = isObject(first) ? first.handlerSettings : undefined;
  if (!isObject(settings)) throw new Error('they hold no handlerSettings');
  const { publicSettings = null, protectedSettings, protectedSettingsCertThumbprint: thumbprint } = settings;
  if (protectedSettings === null || protectedSettings === undefined || protectedSettings === '') {
    return { publicSettings, protectedSettings: null };
  }
  if (typeof protectedSettings !== 'string') throw new Error('their protectedSettings are no text');
  // It becomes part of a path.
  if (typeof thumbprint !== 'string' || !/^[0-9a-f]{40}$/i.test(thumbprint)) {
    throw new Error('their protectedSettingsCertThumbprint is not a SHA-1 thumbprint');
  }
  return { publicSettings, protectedSettings: { message: Buffer.from(protectedSettings, 'base64'), thumbprint } };
}

/** The same for equal settings, whatever the order of their keys. Of protected settings the encrypted text counts, which differs each time Azure encrypts. */
export const hashOf = ({ publicSettings, protectedSettings }: Settings): string =>
  createHash('sha256')
    .update(JSON.stringify([publicSettings, protectedSettings?.message.toString('base64') ?? null], inOrder))
    .digest('hex');

const inOrder = (_: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Its own message quotes the text.
    throw new Error('they are not JSON');
  }
}
