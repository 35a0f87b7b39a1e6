import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contentsOf } from '../../infra/package/contents.ts';
import { extensionZip } from '../../infra/package/extension.ts';
import { exitCodes } from '../../src/cli/exit-codes.ts';
import { addExtensionOf } from '../../src/cli/extension/command.ts';
import { handlerOn } from '../../src/cli/extension/open-handler.ts';
import type { Facts } from '../../src/service/linux/facts.ts';
import type { Reach } from '../../src/service/machine.ts';
import { runVerb } from '../cli/outbox/command-line.ts';
import { moment, smallProgram, smallRuntime } from '../infra/package/harness.ts';
import { type Behaviour, createHarness, type Harness } from '../service/harness.ts';
import { type Call, createGuestAgent, type Run } from './guest-agent.ts';

export interface ZipOptions {
  readonly behaviour?: Behaviour;
  /** Replaces the runtime. */
  readonly node?: string;
  /** Follows the comment at the head of the program. */
  readonly code?: string;
}

/** The zip of a version. Its program says which version it is, and how the service behaves with it. */
export function zipOf(
  version: string,
  { behaviour = 'becomes-ready', node, code = '' }: ZipOptions = {},
): Promise<Buffer> {
  const bundle = Buffer.from(`/*\nversion scheduled-events-bridge ${version}\n${behaviour}\n*/\n${code}`);
  const runtime = Buffer.from(node ?? `#!/bin/sh\nsed -n 's/^version //p' "$1"\n`);
  const contents = contentsOf({
    platform: 'linux-x64',
    program: { ...smallProgram, version, bundle },
    runtime: { ...smallRuntime, program: runtime },
    at: moment,
    key: null,
  });
  return extensionZip(contents, { platform: 'linux-x64', at: moment });
}

interface SiteOptions {
  /** Called before each command; throws to stop the guest agent there. */
  readonly before?: (call: Call) => void;
  readonly facts?: Partial<Facts>;
  readonly reach?: () => Reach;
}

/** A machine in a folder with a guest agent, which runs the commands of handlers in this process. */
export function createSite({ facts = {}, reach = () => ({ kind: 'connected' }), before = () => {} }: SiteOptions = {}) {
  const harness = createHarness({ facts, reach });
  const inThisProcess = inProcess(harness);
  const run: Run = async (call) => {
    before(call);
    return inThisProcess(call);
  };
  const agent = createGuestAgent({ root: harness.root, run });
  return { harness, agent, certificate: certificateIn(agent.library), [Symbol.dispose]: harness[Symbol.dispose] };
}

/** `bin/handler VERB`, without a process. */
const inProcess =
  (harness: Harness): Run =>
  async ({ line, folder, env }) => {
    const [, verb = ''] = line.split(' ');
    const open = addExtensionOf((at) => handlerOn(harness.machine, at, { ...env, ...harness.env }));
    const { out, reason, message } = await runVerb(open, ['extension', verb, '--folder', folder], env);
    return { code: reason === null ? 0 : codeOf(reason), stdout: out, stderr: message };
  };

const codeOf = (reason: string): number =>
  reason === 'commander' ? 2 : exitCodes[reason as keyof typeof exitCodes].code;

let made: { readonly key: string; readonly certificate: string; readonly thumbprint: string } | undefined;

/** A certificate of the VM, as the agent keeps it: made once, since that takes a second. */
function certificateIn(library: string) {
  return {
    /** Puts it there. @returns its thumbprint. */
    place(): string {
      made ??= makeCertificate(library);
      const { thumbprint, certificate, key } = made;
      writeFileSync(join(library, `${thumbprint}.crt`), certificate);
      writeFileSync(join(library, `${thumbprint}.prv`), key, { mode: 0o400 });
      return thumbprint;
    },
    /** Encrypts as Azure does; `cipher` is an option of openssl. */
    encrypt(text: string, cipher = '-aes256'): string {
      if (made === undefined) throw new Error('place it first');
      const certificate = join(library, `${made.thumbprint}.crt`);
      return execFileSync('openssl', ['cms', '-encrypt', '-outform', 'DER', '-binary', cipher, certificate], {
        input: text,
      }).toString('base64');
    },
  };
}

function makeCertificate(folder: string) {
  const [keyFile, certificateFile] = [join(folder, 'made.key'), join(folder, 'made.crt')];
  const subject = ['-subj', '/DC=com/DC=microsoft/CN=Windows Azure CRP Certificate Generator'];
  const to = ['-keyout', keyFile, '-out', certificateFile];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...to], {
    stdio: 'pipe',
  });
  const read = (...args: readonly string[]): string => execFileSync('openssl', args, { encoding: 'utf8' });
  const fingerprint = read('x509', '-in', certificateFile, '-noout', '-fingerprint', '-sha1');
  return {
    key: read('pkey', '-in', keyFile),
    certificate: read('x509', '-in', certificateFile),
    thumbprint: (fingerprint.split('=')[1] ?? '').replaceAll(':', '').trim(),
  };
}

/** Public settings that are a right configuration. `marker` makes it differ from others. */
export const settings = (marker = 'a', more: object = {}) => ({
  publicSettings: { sinks: { stdout: {} }, observer: { vmName: marker }, ...more },
  protectedSettings: null,
  protectedSettingsCertThumbprint: null,
});
