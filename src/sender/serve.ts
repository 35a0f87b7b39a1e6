import type { ReplaceableCredential } from '../azure/credential.ts';
import { systemClock } from '../clock.ts';
import { faultPoint } from '../fault-point.ts';
import type { HeartbeatSender } from '../heartbeat/sender.ts';
import { configuredSinks, heartbeatTargets } from '../sinks/registry.ts';
import type { Sink } from '../sinks/sink.ts';
import { type Calls, createCalls, type Handlers } from './calls.ts';
import type { Port } from './channel.ts';
import {
  type PollerMethods,
  type SenderMethods,
  type SenderRole,
  type SenderStart,
  type TokenAnswer,
  tokensRole,
} from './protocol.ts';
import { answerToken, tokensOver } from './tokens.ts';

/** The parts of a process after `begin`. */
interface Work {
  readonly sink: Sink | null;
  readonly heartbeat: HeartbeatSender | null;
  readonly token: ((scope: string) => Promise<TokenAnswer>) | null;
}

/**
 * The inside of a sender process: executes the requests from the channel, with only the libraries of its role.
 *
 * @param setProcessWide sets what the configuration says of the whole process, before any library is loaded.
 */
export function serveSender(
  role: SenderRole,
  port: Port,
  setProcessWide: (config: SenderStart['config']) => unknown,
): void {
  let isStartDue = false;
  let work: Promise<Work> | null = null;
  const begun = async (): Promise<Work> => {
    if (work === null) throw new Error('begin was not called');
    return await work;
  };
  const part = <K extends keyof Work>(found: Work, name: K): NonNullable<Work[K]> => {
    const value = found[name];
    if (value === null) throw new Error(`${role} has no ${name}`);
    return value as NonNullable<Work[K]>;
  };
  const handlers: Handlers<SenderMethods> = {
    async begin({ config }) {
      const open = async (): Promise<Work> => {
        setProcessWide(config);
        return await (role === tokensRole
          ? openTokens(config)
          : openDestination(role, config, calls, () => isStartDue));
      };
      work = open();
      await work;
    },
    async send(batch, signal) {
      const result = await part(await begun(), 'sink').send(
        batch.map((bytes) => ({ json: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) })),
        signal,
      );
      faultPoint('sink-accepted');
      return result;
    },
    check: async (_, signal) => part(await begun(), 'sink').check(signal),
    heartbeat: async (facts, signal) => part(await begun(), 'heartbeat').send(facts, signal),
    token: async (scope) => part(await begun(), 'token')(scope),
    async status(startDue) {
      isStartDue = startDue;
      const { sink } = await begun();
      const deadlines = sink && 'deadlines' in sink ? (sink.deadlines as SenderDeadlines) : null;
      const { rss, heapTotal, external } = process.memoryUsage();
      return {
        deadlines: deadlines && { missed: { ...deadlines.missed }, lateSettles: deadlines.lateSettles },
        residentBytes: rss,
        allocatedBytes: heapTotal + external,
      };
    },
    async close() {
      await (await begun()).sink?.close();
    },
  };
  const calls = createCalls<PollerMethods, SenderMethods>(port, handlers);
}

type SenderDeadlines = NonNullable<ReturnType<SenderMethods['status']>['deadlines']>;

async function openDestination(
  role: SenderRole,
  config: SenderStart['config'],
  calls: Calls<PollerMethods>,
  startDue: () => boolean,
): Promise<Work> {
  const options = { credential: remoteCredential(calls), clock: systemClock, startDue };
  const found = configuredSinks(config.sinks).find(({ sink }) => sink.name === role);
  const sink = (await found?.sink.open(found.section, options)) ?? null;
  const target = heartbeatTargets(config).find(({ sink: name }) => name === role);
  return { sink, heartbeat: (await target?.open(options)) ?? null, token: null };
}

async function openTokens(config: SenderStart['config']): Promise<Work> {
  const { managedIdentityTokens } = await import('../azure/token-source.ts');
  const source = managedIdentityTokens(config.identity.clientId);
  return { sink: null, heartbeat: null, token: (scope) => answerToken(source, scope) };
}

/** The process that polls holds the tokens. */
const remoteCredential = (calls: Calls<PollerMethods>): ReplaceableCredential => ({
  ...tokensOver((scope, signal) => calls.call('token', scope, signal)),
  replace: (scope, token, signal) => calls.call('replaceToken', { scope, token }, signal),
});
