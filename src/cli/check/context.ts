import { hostname } from 'node:os';
import { type BridgeCredential, createCredential, tokenDestination } from '../../azure/credential.ts';
import { classify } from '../../azure/errors.ts';
import { managedIdentityTokens } from '../../azure/token-source.ts';
import { readClaims } from '../../check/claims.ts';
import { type SinkCheckContext, type TokenSeen, tokenMs } from '../../check/context.ts';
import { accessTo } from '../../check/windows-access.ts';
import type { Config } from '../../config.ts';
import { createImds, type Imds, type InstanceAnswer } from '../../imds/client.ts';
import { createDiscovery, type Locate } from '../../imds/discover.ts';
import { observerFrom, observerWithoutMetadata, parseInstance, parseTags } from '../../imds/instance.ts';
import type { Observer, PollResult } from '../../lifecycle/scheduled-event.ts';
import { silentLog } from '../../log.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import { tokenScopes } from '../../sinks/registry.ts';
import type { ParsedEntry } from '../../sinks/sink.ts';
import { Failure } from '../exit-codes.ts';
import { readStatus, type Status } from '../status/status.ts';
import { probeEntry } from './probe-record.ts';
import { type StateSeen, seeState } from './see-state.ts';

/** The input of the checks. What several of them need is fetched once, when the first of them needs it. */
export interface CheckContext extends SinkCheckContext {
  readonly config: Config;
  readonly system: OperatingSystem;
  readonly credential: BridgeCredential;
  /** Reports on a terminal why the check takes longer. */
  report(sentence: string): void;
  /** What is in the state directory, read once. */
  state(): StateSeen;
  /** What `status` found out about the service and its outbox; otherwise why it could not. Fetched once. */
  status(): Promise<Status | Failure>;
  instance(): Promise<InstanceAnswer>;
  document(): Promise<PollResult>;
  /** Where the metadata service was found; as configured, unless that is `auto`. */
  endpoint(): Promise<string>;
  close(): Promise<void>;
}

/** In ms. With the other deadlines of a check it keeps the whole under 30 s, the first document excepted. */
const instanceMs = 8_000;
/** Without a request for so long the service turns the feature off. */
const warmForMs = 24 * 3_600_000;
/** All programs of a VM together may send the metadata service five requests a second; the service sends one. */
const turnMs = 300;
/** Where it asks for fewer all the same. */
const throttledMs = 1_100;
const mostTries = 3;
/** Time without a document after which the wait is explained. */
const explainAfterMs = 3_000;

export interface CheckContextOptions
  extends Pick<CheckContext, 'config' | 'clock' | 'system' | 'write' | 'offline' | 'signal' | 'report'> {}

export function createCheckContext(options: CheckContextOptions): CheckContext {
  const { config, clock, signal, report, system } = options;
  const locate: Locate | null = config.imds.endpoint === 'auto' ? createDiscovery({ clock, log: silentLog }) : null;
  const credential = createCredential({
    source: managedIdentityTokens(config.identity.clientId),
    clock,
    log: silentLog,
    deadlineMs: tokenMs,
  });
  const state = once(() => seeState(config.stateDirectory));
  const status = once(async (): Promise<Status | Failure> => {
    try {
      return await readStatus(config.stateDirectory, { clock, maxMegabytes: config.outbox.maxMegabytes, system });
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  });
  const isWarm = (): boolean => {
    const at = state().report?.lastDocumentAt;
    return typeof at === 'string' && clock.now().getTime() - Date.parse(at) < warmForMs;
  };
  const imds: Imds = createImds({
    endpoint: locate ?? config.imds.endpoint,
    apiVersion: config.imds.apiVersion,
    timeoutMs: Math.min(instanceMs, 1000 * config.imds.timeoutSeconds),
    firstTimeoutMs: 1000 * config.imds.firstTimeoutSeconds,
    warm: isWarm,
    clock,
  });

  let turn: Promise<unknown> = Promise.resolve();
  /** Sequential, and retried once after a throttle, so that neither a verdict nor the poll of the service is affected. */
  async function inTurn<T>(ask: () => Promise<T>, codeOf: (answer: T) => string | null): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const mine = turn;
      turn = mine.then(() => clock.sleep(turnMs, signal));
      await mine;
      const answer = await ask();
      if (tries === mostTries || signal.aborted || !isThrottled(codeOf(answer))) return answer;
      await clock.sleep(throttledMs, signal);
    }
  }

  const instance = once(() =>
    inTurn(
      () => imds.instance(signal),
      (answer) => (answer.kind === 'unavailable' ? answer.code : null),
    ),
  );
  const vm = once(async (): Promise<Observer | null> => {
    const answer = await instance();
    const { tags, ...overrides } = config.observer;
    const computer = hostname();
    return answer.kind === 'metadata'
      ? observerFrom({ ...parseInstance(answer.metadata), computer }, overrides, parseTags(answer.metadata, tags))
      : observerWithoutMetadata({ stored: state().report?.observer ?? null, computer }, overrides, tags);
  });

  async function testEntry(): Promise<ParsedEntry | null> {
    const observer = await vm();
    return observer && probeEntry(observer, clock.now(), config.imds.apiVersion);
  }

  const document = once(async (): Promise<PollResult> => {
    const over = new AbortController();
    void clock.sleep(explainAfterMs, over.signal).then(() => {
      if (over.signal.aborted || signal.aborted) return;
      report(
        isWarm()
          ? 'The metadata service has not returned the document yet.'
          : 'The first response about scheduled events may take two minutes, because it enables the feature for this VM.',
      );
    });
    try {
      const first = await inTurn(
        () => imds.observe(signal),
        (seen) => (seen.kind === 'unavailable' ? seen.code : null),
      );
      if (first.kind !== 'document' || first.clockOffsetSeconds !== null) return first;
      // Too slow for its date to measure the clock: the next answer is quick.
      const second = await imds.observe(signal);
      return second.kind === 'document' ? second : first;
    } finally {
      over.abort();
    }
  });

  const tokenFor = async (scope: string): Promise<TokenSeen> => {
    try {
      const { token } = await credential.getToken(scope, { abortSignal: signal });
      return { scope, claims: readClaims(token), failure: null };
    } catch (error) {
      const { code, reason } = classify(error, tokenDestination(), clock.now());
      return { scope, claims: null, failure: { code, reason } };
    }
  };
  const tokens = once(() =>
    Promise.all(
      tokenScopes(config.sinks).map((scope) =>
        inTurn(
          () => tokenFor(scope),
          ({ failure }) => failure?.code ?? null,
        ),
      ),
    ),
  );

  return {
    ...options,
    stateDirectory: config.stateDirectory,
    credential,
    accessTo,
    state,
    status,
    instance,
    vm,
    testEntry,
    document,
    tokens,
    async endpoint() {
      const located = await locate?.(signal);
      return located?.kind === 'found' ? located.endpoint : config.imds.endpoint;
    },
    async close() {
      credential.close();
      await imds.close();
    },
  };
}

const isThrottled = (code: string | null): boolean => code === 'http-429' || code === 'token-throttled';

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
