import { type BridgeCredential, createCredential, tokenDestination } from '../azure/credential.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { HeartbeatSender } from '../heartbeat/sender.ts';
import type { Log } from '../log.ts';
import { type ConfiguredSink, configuredSinks, heartbeatTargets, onlySink, type SinkKey } from '../sinks/registry.ts';
import type { Sink } from '../sinks/sink.ts';
import type { Handlers } from './calls.ts';
import { type Child, forkChild, openProgram, senderVerb } from './channel.ts';
import { type PollerMethods, type SenderRole, tokensRole } from './protocol.ts';
import { createRemoteHeartbeat, createRemoteSink, createRemoteTokens } from './remote.ts';
import { createSenderProcess, type SenderFacts, type SenderProcess } from './sender-process.ts';
import { answerToken } from './tokens.ts';

/** Everything that connects to Azure, except to the metadata service. */
export interface Senders {
  readonly sinks: readonly Sink[];
  readonly heartbeats: readonly HeartbeatSender[];
  readonly credential: BridgeCredential;
  /** Of each process; empty where the sinks run in this one. */
  facts(): readonly SenderFacts[];
  /** For after each poll: starts the processes while something is near. */
  startAhead(): void;
  /** Never rejects; at most 3 s. */
  close(): Promise<void>;
}

export interface SendersOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** An event that affects this VM is Started or near: the processes are started and kept. */
  readonly near: () => boolean;
  /** One is about to start: connections are opened, and kept until it has. */
  readonly startDue: () => boolean;
}

export type OpenSenders = (options: SendersOptions) => Promise<Senders>;

const sinkIdleMs = 60_000;

/**
 * Each destination in its own process, and one that fetches tokens: what goes wrong in a library of Azure, and be it the
 * end of a process, ends neither polling nor the other destination.
 *
 * @param path the file that a sender runs: this very program.
 * @param version of this program: a sender of another one refuses to start.
 */
export const inProcesses = (path: string, version: string, env: NodeJS.ProcessEnv = process.env): OpenSenders => {
  const program = openProgram(path);
  return async ({ config, clock, log, near, startDue }) => {
    const ofRole = (role: SenderRole, only: SinkKey | null) => ({
      role,
      start: { config: { ...config, sinks: onlySink(config.sinks, only) } },
      fork: (options: Parameters<Parameters<typeof createSenderProcess>[0]['fork']>[0]): Child =>
        forkChild({ program, args: [senderVerb, role, version], env: senderEnv(env), ...options }),
      clock,
      log,
    });
    const refuse = async (): Promise<never> => {
      throw new Error('the process for tokens needs no token');
    };
    const tokens = createSenderProcess({
      ...ofRole(tokensRole, null),
      does: `fetches tokens from ${tokenDestination().name}`,
      offers: { token: refuse, replaceToken: refuse },
      idleMs: 0,
    });
    const credential = createCredential({ source: createRemoteTokens(tokens), clock, log });
    const offers = offeredBy(credential);
    const processes = new Map<string, SenderProcess>([[tokensRole, tokens]]);
    const processOf = ({ sink, section }: ConfiguredSink): SenderProcess => {
      const role = sink.name;
      const sender = createSenderProcess({
        ...ofRole(role, sink.key as SinkKey),
        does: `sends to ${sink.destination(section)}`,
        offers,
        near,
        startDue,
        idleMs: Math.max(sinkIdleMs, 1000 * (sink.idleSeconds?.(section) ?? 0)),
      });
      processes.set(role, sender);
      return sender;
    };
    const sinkOptions = { credential, clock, startDue };
    const sinks = await Promise.all(
      configuredSinks(config.sinks).map(({ sink, section }) =>
        sink.isIsolated
          ? createRemoteSink(sink.shape(section), processOf({ sink, section }))
          : sink.open(section, sinkOptions),
      ),
    );
    const heartbeats = heartbeatTargets(config).flatMap(({ name, sink }) => {
      const sender = processes.get(sink);
      return sender ? [createRemoteHeartbeat(name, sender)] : [];
    });
    return {
      sinks,
      heartbeats,
      credential,
      facts: () => [...processes.values()].map(({ facts }) => facts),
      startAhead() {
        for (const sender of processes.values()) sender.startAhead();
      },
      async close() {
        credential.close();
        await Promise.all([...sinks.map((sink) => sink.close()), tokens.close()]);
      },
    };
  };
};

/** All in this process: for programs that run many bridges, each of which would start three processes. */
export const inThisProcess: OpenSenders = async ({ config, clock, log, startDue }) => {
  const { managedIdentityTokens } = await import('../azure/token-source.ts');
  const credential = createCredential({ source: managedIdentityTokens(config.identity.clientId), clock, log });
  const sinkOptions = { credential, clock, startDue };
  const sinks = await Promise.all(
    configuredSinks(config.sinks).map(({ sink, section }) => sink.open(section, sinkOptions)),
  );
  return {
    sinks,
    heartbeats: await Promise.all(heartbeatTargets(config).map(({ open }) => open(sinkOptions))),
    credential,
    facts: () => [],
    startAhead() {},
    async close() {
      await Promise.all(sinks.map((sink) => sink.close()));
      credential.close();
    },
  };
};

const offeredBy = (credential: BridgeCredential): Handlers<PollerMethods> => ({
  token: (scope, signal) => answerToken(credential, scope, signal),
  replaceToken: ({ scope, token }, signal) => credential.replace(scope, token, signal),
});

/** The variables of the service manager are for the main process only. */
function senderEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NOTIFY_SOCKET: _socket, WATCHDOG_USEC: _usec, WATCHDOG_PID: _pid, ...rest } = env;
  return rest;
}
