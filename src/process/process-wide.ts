import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import type { Config } from '../config.ts';

/** The platform's own metadata and token service: link-local, never behind a proxy. */
const linkLocal = '169.254.169.254';

/**
 * Set by other products' agents to draw tokens from their own identity service: our credential would believe them. The
 * last one does it for workload identities. See `ManagedIdentityCredential` of @azure/identity.
 */
const foreignIdentity = [
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
  'MSI_ENDPOINT',
  'MSI_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
];
const tokenHost = 'AZURE_POD_IDENTITY_AUTHORITY_HOST';

/**
 * What keeps the bridge small, measured on Node 24.21. The first does while running nearly what `--max-semi-space-size=1` does at the
 * start (which has no effect later): young objects get 2 MB, 9 at times, instead of 33. The second collects old ones when they have
 * grown by 30 %: while a backlog is sent, what was sent accumulated to 35 MB first, which stayed with the process. The others keep
 * undici's parser from being optimised after a few polls: that compiler's working memory stayed with the process, 15 MB resident.
 */
const frugal = [
  '--semi-space-growth-factor=1',
  '--heap-growing-percent=30',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
];

/**
 * For the process that polls. A poll a second makes V8 optimise in time all that it runs, and then the code and the working memory of its
 * optimising compilers are resident: 7 MB of 77. Without them a poll takes no more CPU time, and neither does the relay of
 * a backlog, 25.6 µs for each record instead of 25.8, most of it SQLite's (infra/performance.md).
 */
const withoutOptimizer = ['--no-opt', '--no-maglev'];

/** For a process that does little at a time, for months. */
export function dispenseWithOptimizer(): void {
  for (const flag of withoutOptimizer) setFlagsFromString(flag);
}

/** The service has the identity of its VM; a command that an operator runs anywhere may use any that the environment offers. */
export type TokensOf = 'this VM' | 'the user';

/** An option has a valid value that cannot be used on this machine. The message is for the operator. */
export class UnusableSetting extends Error {}

/**
 * Sets all that is process-wide: proxy variables, token host, trusted authorities, memory habits. Every command that uses the network calls it
 * first, because the Azure libraries read the variables once, when they are first used, and keep what they read.
 * @param sourceOf names the file or variable that an option is set in, for messages.
 * @param tokensOf whose identity is used.
 * @param opensTls false: the authorities are only checked, since to trust them takes 25 ms and 4 MB, most of it for the built-in list.
 * @returns warnings for the log.
 * @throws UnusableSetting if `tls.caFile` is unusable.
 */
export function setProcessWide(
  config: Pick<Config, 'proxy' | 'tls'> & { readonly imds: Pick<Config['imds'], 'endpoint'> },
  env: NodeJS.ProcessEnv = process.env,
  sourceOf: (path: string) => string | null = () => null,
  tokensOf: TokensOf = 'this VM',
  opensTls = true,
): string[] {
  setProxy(config, env);
  if (tokensOf === 'this VM') for (const name of [...foreignIdentity, tokenHost]) delete env[name];
  setTokenHost(config.imds.endpoint, env);
  for (const flag of frugal) setFlagsFromString(flag);
  const { added, warnings } = readAuthorities(config.tls.caFile, env, sourceOf);
  if (opensTls && added.length > 0) setDefaultCACertificates([...new Set([...getCACertificates('default'), ...added])]);
  return warnings;
}

function setProxy({ imds, proxy }: Parameters<typeof setProcessWide>[0], env: NodeJS.ProcessEnv): void {
  if (proxy) {
    for (const name of ['HTTPS_PROXY', 'HTTP_PROXY']) setInCapitals(env, name, proxy.url);
  }
  const direct = new Set((env.NO_PROXY || env.no_proxy || '').split(',').map((host) => host.trim()));
  direct.delete('');
  for (const host of proxy?.bypass ?? []) direct.add(host);
  direct.add(linkLocal);
  if (imds.endpoint !== 'auto') direct.add(new URL(imds.endpoint).hostname);
  setInCapitals(env, 'NO_PROXY', [...direct].join(','));
}

/** The same name in small letters is removed before, since on Windows both are one variable. */
function setInCapitals(env: NodeJS.ProcessEnv, name: string, value: string): void {
  delete env[name.toLowerCase()];
  env[name] = value;
}

/** An explicit endpoint moves the token host with it; `auto` moves only where documents are read. */
function setTokenHost(endpoint: string, env: NodeJS.ProcessEnv): void {
  if (endpoint !== 'auto' && endpoint !== `http://${linkLocal}`) env[tokenHost] = endpoint;
}

/**
 * The authorities of `tls.caFile` and of SSL_CERT_FILE, to be trusted beside those that Node brings (Node itself reads that
 * variable only if an option asks for it).
 */
function readAuthorities(
  caFile: string | null,
  env: NodeJS.ProcessEnv,
  sourceOf: (path: string) => string | null,
): { readonly added: readonly string[]; readonly warnings: string[] } {
  const warnings: string[] = [];
  const added: string[] = [];
  if (env.SSL_CERT_FILE) {
    const read = readCertificates(env.SSL_CERT_FILE);
    if (read.problem === undefined) added.push(...read.certificates);
    else
      warnings.push(
        `The environment variable SSL_CERT_FILE is not used, since ${env.SSL_CERT_FILE} is unusable: ${read.problem}.`,
      );
  }
  if (caFile !== null) {
    const read = readCertificates(caFile);
    if (read.problem !== undefined) {
      const source = sourceOf('tls.caFile');
      throw new UnusableSetting(
        `tls.caFile is ${JSON.stringify(caFile)}${source === null ? '' : ` in ${source}`}: ${read.problem}; expected a PEM file of certificates.`,
      );
    }
    added.push(...read.certificates);
  }
  return { added, warnings };
}

type Certificates =
  | { readonly certificates: readonly string[]; readonly problem?: never }
  | { readonly problem: string };

function readCertificates(file: string): Certificates {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { problem: 'there is no such file' };
    return { problem: code === 'EACCES' ? 'it may not be read by this user' : `it cannot be read (${message})` };
  }
  const certificates = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (certificates.length === 0) return { problem: 'it holds no certificate in PEM form' };
  const broken = certificates.findIndex((pem) => !isCertificate(pem));
  return broken < 0 ? { certificates } : { problem: `certificate ${broken + 1} in it cannot be read` };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
