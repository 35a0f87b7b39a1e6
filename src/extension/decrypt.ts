import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Refusal } from '../service/refusals.ts';
import { isObject, withoutMark } from './handler-environment.ts';
import type { EncryptedSettings } from './settings.ts';
import { windowsProgram } from './windows-program.ts';

export interface Decryption {
  /** The folder of the handler. */
  readonly folder: string;
  readonly platform: NodeJS.Platform;
  /** `openssl` is searched in its PATH. */
  readonly env: NodeJS.ProcessEnv;
}

/** A program that gets the message on stdin and prints what is in it, so that the secret is in no argument and in no file. */
export interface DecryptionCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly input: Buffer;
  /** What it prints. */
  readonly output: 'bytes' | 'base64';
}

const timeoutMs = 30_000;
/** Azure accepts 32 KB of settings. */
const mostBytes = 1024 * 1024;

/** The protected settings in clear. @throws Refusal whose message quotes nothing of them. */
export async function decrypt(settings: EncryptedSettings, { folder, platform, env }: Decryption): Promise<unknown> {
  const commands =
    platform === 'win32'
      ? [powershellCommand(settings, env)]
      : opensslCommands(settings, certificateIn(folder, settings));
  let why = '';
  for (const command of commands) {
    const ended = await run(command, env);
    if (ended.output !== null) return documentIn(ended.output.toString('utf8'));
    if (ended.why === 'ENOENT') {
      throw new Refusal(
        'missing',
        `The program ${command.program} is missing, which decrypts the protected settings: install it, then deploy the extension again.`,
      );
    }
    why ||= ended.why;
  }
  throw new Refusal(
    'badConfiguration',
    `The protected settings cannot be decrypted with the certificate ${settings.thumbprint} (${why}): deploy the extension again, so that Azure encrypts them again.`,
  );
}

/** Where the guest agent of Linux keeps certificates and their private keys: beside the folders of the handlers. */
const agentFolder = '/var/lib/waagent';

/** The path of the certificate, without its ending. @throws Refusal where there is none with its private key. */
function certificateIn(folder: string, { thumbprint }: EncryptedSettings): string {
  const folders = [...new Set([dirname(folder), agentFolder])];
  const names = [...new Set([thumbprint, thumbprint.toUpperCase()])];
  const found = folders
    .flatMap((one) => names.map((name) => join(one, name)))
    .find((path) => existsSync(`${path}.crt`) && existsSync(`${path}.prv`));
  if (found !== undefined) return found;
  throw new Refusal(
    'badConfiguration',
    `The protected settings are encrypted to the certificate ${thumbprint}, which the guest agent does not have in ${dirname(folder)}: deploy the extension again, so that Azure encrypts them again.`,
  );
}

/** Both, because one fails with some ciphers of the other, for example in FIPS mode. */
export const opensslCommands = ({ message }: EncryptedSettings, certificate: string): readonly DecryptionCommand[] =>
  ['cms', 'smime'].map((verb) => ({
    program: 'openssl',
    args: [verb, '-decrypt', '-inform', 'DER', '-recip', `${certificate}.crt`, '-inkey', `${certificate}.prv`],
    input: message,
    output: 'bytes',
  }));

// assumption: windows-extension-protected-settings
/** For PowerShell 5.1, which every Windows has. Script block logging records the script, in which no secret is. */
export const powershellScript = (thumbprint: string): string => `$ErrorActionPreference = 'Stop'
Add-Type -AssemblyName System.Security
$message = New-Object System.Security.Cryptography.Pkcs.EnvelopedCms
$message.Decode([Convert]::FromBase64String([Console]::In.ReadToEnd()))
$store = New-Object System.Security.Cryptography.X509Certificates.X509Store('My', 'LocalMachine')
$store.Open('ReadOnly')
$found = $store.Certificates.Find('FindByThumbprint', '${thumbprint}', $false)
if ($found.Count -eq 0) { [Console]::Error.WriteLine('it is not in LocalMachine\\My'); exit 1 }
$message.Decrypt($found)
[Console]::Out.Write([Convert]::ToBase64String($message.ContentInfo.Content))
`;

export const powershellCommand = (
  { message, thumbprint }: EncryptedSettings,
  env: NodeJS.ProcessEnv,
): DecryptionCommand => ({
  program: windowsProgram(env, 'WindowsPowerShell', 'v1.0', 'powershell.exe'),
  args: [
    ...['-NoLogo', '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-EncodedCommand'],
    Buffer.from(powershellScript(thumbprint), 'utf16le').toString('base64'),
  ],
  input: Buffer.from(message.toString('base64')),
  output: 'base64',
});

type Ran = { readonly output: Buffer; readonly why?: never } | { readonly output: null; readonly why: string };

function run({ program, args, input, output }: DecryptionCommand, env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    let complaint = '';
    const failed = (why: string): void => resolve({ output: null, why });
    const child = spawn(program, args, {
      env: { ...env, LC_ALL: 'C' },
      stdio: 'pipe',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      windowsHide: true,
    });
    child.once('error', (error: NodeJS.ErrnoException) => failed(error.code ?? error.message));
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
      else child.kill('SIGKILL');
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaint = (complaint + text).slice(0, 2_000);
    });
    child.once('close', (code, signal) => {
      const content = Buffer.concat(chunks);
      if (code !== 0) return failed(`${program}: ${lastLine(complaint) || (signal ?? `exit code ${code}`)}`);
      resolve({ output: output === 'bytes' ? content : Buffer.from(content.toString('latin1'), 'base64') });
    });
    // It may end before it has read everything.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

const lastLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '') ?? '';

function documentIn(text: string): unknown {
  const refusal = (why: string): Refusal =>
    new Refusal(
      'badConfiguration',
      `The protected settings ${why}: expected a JSON object with options of the bridge.`,
    );
  let document: unknown;
  try {
    document = JSON.parse(withoutMark(text));
  } catch {
    // The error quotes the text.
    throw refusal('are not JSON');
  }
  if (!isObject(document)) throw refusal('are not an object');
  return document;
}
