import { type Stats, statSync } from 'node:fs';
import { classify } from '../../azure/errors.ts';
import { type Destination, sentence } from '../../azure/failure.ts';
import { networkPathTo, probe } from '../../check/connectivity.ts';
import { networkMs, type SinkCheckContext, tokenMs, withTokens } from '../../check/context.ts';
import { commandIn, type Finding, notProven, ok, problem, warning } from '../../check/finding.ts';
import { networkFindings, notAsked } from '../../check/network.ts';
import { listed } from '../../check/sddl.ts';
import { keepFileFromOthers } from '../../check/windows-access.ts';
import type { CheckResult, SendResult } from '../sink.ts';
import { destinationOf, type HttpConfig } from './config.ts';
import type { httpFindings } from './findings.ts';
import { readHeaderFile } from './header-file.ts';
import { createHttpSink } from './sink.ts';

type HttpFinding = Finding<keyof typeof httpFindings>;

/** With the token, and twice where a record is sent, under 30 s. */
const waits = { tokenMs, connectMs: 5_000, sendMs: 8_000 };

export async function checkHttp(config: HttpConfig, context: SinkCheckContext): Promise<readonly HttpFinding[]> {
  const { clock, credential, signal, write } = context;
  const to = destinationOf(config);
  if (context.offline) return config.headerFile === null ? [] : [await credentialFinding(config, to, context)];
  const way = networkPathTo(config.url);
  const sink = createHttpSink({ config, credential, clock, waits });
  const check = () => sink.check(signal);
  try {
    const [seen, verdict, ofCredential] = await Promise.all([
      probe(way, networkMs, signal),
      config.tokenScope === null ? check() : withTokens(context, check),
      credentialFinding(config, to, context),
    ]);
    // Any answer to OPTIONS is accepted: only a POST decides.
    const canPost = seen.failed === null && !noCredential.test(verdict.code);
    const entry = write && canPost ? await context.testEntry() : null;
    const probed = entry && (await sink.send([entry], signal));
    return [
      ...networkFindings('http', { way, seen, to, now: clock.now() }),
      ofCredential,
      reachFinding({ to, verdict, isReachable: seen.failed === null, probed }),
      ...(write ? [probeFinding(to, probed)] : []),
    ];
  } finally {
    await sink.close();
  }
}

async function credentialFinding(
  config: HttpConfig,
  to: Destination,
  { clock, stateDirectory, accessTo }: SinkCheckContext,
): Promise<HttpFinding> {
  const what = 'http.credential';
  const { headerFile, tokenScope } = config;
  if (tokenScope !== null)
    return ok(what, `Requests carry a token of the managed identity for ${tokenScope}: see identity.token.`);
  if (headerFile === null)
    return ok(what, 'Requests carry no credential: sinks.http.headerFile and sinks.http.tokenScope are not set.');
  try {
    const { name } = await readHeaderFile(headerFile);
    const message = `Requests carry the header ${name} of ${headerFile}`;
    const access = await accessTo(headerFile);
    if (access !== null && access.readers.length > 0) {
      const readers = `${message}, which is a secret and can be read by ${listed(access.readers)}.`;
      return problem(what, readers, keepFileFromOthers(headerFile));
    }
    // Who runs the service: this account may be root.
    const account = statSync(stateDirectory, { throwIfNoEntry: false });
    if (process.platform !== 'win32' && account !== undefined && !canRead(statSync(headerFile), account)) {
      return warning(
        what,
        `${message}, which this account can read; that of the service (uid ${account.uid}, owner of ${stateDirectory}) cannot by its owner and mode.`,
        `chown ${account.uid}:${account.gid} ${headerFile} && chmod 0400 ${headerFile}`,
      );
    }
    return ok(what, `${message}.`);
  } catch (error) {
    const { reason } = classify(error, to, clock.now());
    return problem(what, reason, commandIn(reason));
  }
}

type Rights = Pick<Stats, 'uid' | 'gid' | 'mode'>;

/** By owner and mode: access lists and further groups are not checked. */
export function canRead({ uid, gid, mode }: Rights, account: Omit<Rights, 'mode'>): boolean {
  if (account.uid === 0) return true;
  return (mode & (uid === account.uid ? 0o400 : gid === account.gid ? 0o040 : 0o004)) !== 0;
}

/** Codes of a request that was not sent, for want of its credential. */
const noCredential = /^(token|header)-/;

export interface ReachSeen {
  readonly to: Destination;
  readonly verdict: CheckResult;
  readonly isReachable: boolean;
  /** Null: no test record was sent. */
  readonly probed: SendResult | null;
}

export function reachFinding({ to, verdict, isReachable, probed }: ReachSeen): HttpFinding {
  const what = 'http.reach';
  if (probed !== null) {
    return probed.kind === 'delivered'
      ? ok(what, `${sentence(to.name)} takes events of this VM.`)
      : problem(what, probed.reason);
  }
  if (verdict.ok) {
    return notProven(
      what,
      `${sentence(to.name)} answers. Whether it takes events can only be proven by one: check --write, or emit-test.`,
    );
  }
  if (verdict.code.startsWith('header-')) return notProven(what, 'Not tried without the header: see http.credential.');
  const untried = notAsked(what, verdict, isReachable);
  if (untried !== null) return untried;
  if (/^http-(3\d\d|401|403)$/.test(verdict.code))
    return warning(
      what,
      `Of an OPTIONS request: ${verdict.detail} It may take a POST all the same: check --write decides.`,
    );
  return problem(what, verdict.detail);
}

function probeFinding(to: Destination, probed: SendResult | null): HttpFinding {
  const what = 'http.probe';
  if (probed === null) return notProven(what, 'No test record was sent.');
  if (probed.kind === 'delivered') return ok(what, `${sentence(to.name)} accepted a test record (isTest is true).`);
  return problem(what, `The test record was not accepted (${probed.code}): see http.reach.`);
}
