import { accessSync, constants, cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Clock } from '../../../src/clock.ts';
import type { Log } from '../../../src/log.ts';
import type { SendResult, Sink } from '../../../src/sinks/sink.ts';
import { sendersHere } from '../clock/azure-here.ts';
import { fromSources } from '../sources.ts';
import { createFastClock } from '../virtual/fast-clock.ts';
import type { Order, Reply, Trigger } from './protocol.ts';

/**
 * Bridges in this process, one after the other: each with its real files, the real libraries and sockets, and a clock of the test. A kill is
 * the state of the files at that moment: they are copied, the bridge is cut off from its sinks and ended, and the copy takes the place of
 * what it wrote meanwhile. What the kernel has of a file is what a killed process leaves, so nothing else is needed, and a kill takes
 * milliseconds instead of the start of a process.
 */
const time = createFastClock(Date.now());
let steppedMs = 0;
const clock: Clock = {
  now: () => new Date(time.now().getTime() + steppedMs),
  monotonicMs: time.monotonicMs,
  sleep: time.sleep,
};

interface BridgeRun {
  readonly order: Extract<Order, { kind: 'start' }>;
  readonly stop: AbortController;
  ended: Promise<void>;
  isEnded: boolean;
  readonly killed: PromiseWithResolvers<SendResult>;
  isKilled: boolean;
}

let sources = '';
let current: BridgeRun | null = null;
let trigger: Trigger | null = null;
let faults: string[] = [];
let failure: string | null = null;
let passed = 0;
const copies: Record<string, number> = {};
/** Positions that a sink has confirmed, as far as the file may not have stored that. */
const confirmed = new Map<string, Set<number>>();

// Whichever sources are tested, their fault points report here.
registerHooks({
  load: (url, context, next) =>
    url.endsWith('/src/fault-point.ts')
      ? {
          format: 'module',
          shortCircuit: true,
          source: 'export const faultPoint = (name) => globalThis.atFaultPoint(name);',
        }
      : next(url, context),
});
Object.assign(globalThis, {
  atFaultPoint(name: string): void {
    if (trigger?.kind !== 'point' || trigger.name !== name) return;
    passed += 1;
    if (passed === trigger.nth) kill();
  },
});

const note = ({ part, code }: { readonly part?: string; readonly code?: string }): void => {
  if (part === 'outbox' && code !== undefined) faults.push(code);
};
const log: Log = { debug: () => {}, info: () => {}, warn: note, error: note, child: () => log };

/** The files of the running bridge are what the next one finds. */
function kill(): void {
  if (!current || current.isKilled) return;
  current.isKilled = true;
  const { stateDirectory, aside } = current.order;
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  if (existsSync(stateDirectory)) copyFiles(stateDirectory, aside);
  current.killed.resolve({ kind: 'retry', cause: 'transient', code: 'killed', reason: 'The process was killed.' });
}

/** Without sockets, and without the index of the log, which SQLite creates again. */
function copyFiles(from: string, to: string): void {
  cpSync(from, to, {
    recursive: true,
    filter: (file) => !file.endsWith('-shm') && (statSync(file).isFile() || statSync(file).isDirectory()),
  });
}

async function end(): Promise<void> {
  if (!current) return;
  const { order, stop, isKilled } = current;
  trigger = null;
  stop.abort();
  while (!current.isEnded) await time.advance(200);
  if (isKilled) putBack(order);
  countRepeated(order.stateDirectory);
  current = null;
}

function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return false;
  } catch {
    return true;
  }
}

function putBack({ stateDirectory, aside }: BridgeRun['order']): void {
  if (existsSync(stateDirectory)) {
    // Nothing was written since, then.
    if (isReadOnly(stateDirectory)) return;
    for (const name of readdirSync(stateDirectory)) rmSync(join(stateDirectory, name), { recursive: true });
  }
  cpSync(aside, stateDirectory, { recursive: true });
}

/** What was confirmed and still waits in the file, or never came to be in it, is sent again. */
function countRepeated(stateDirectory: string): void {
  for (const [sink, positions] of confirmed) {
    if (positions.size === 0) continue;
    const { last, pending } = storedIn(stateDirectory, sink);
    const repeated = [...positions].filter((position) => position > last || pending.has(position));
    copies[sink] = (copies[sink] ?? 0) + repeated.length;
    positions.clear();
  }
}

function storedIn(stateDirectory: string, sink: string): { last: number; pending: ReadonlySet<number> } {
  try {
    using db = new DatabaseSync(join(stateDirectory, 'outbox.sqlite'), { readOnly: true });
    const lifecycle = db.prepare(`SELECT value FROM meta WHERE key = 'lifecycle'`).get();
    const { position: last } = JSON.parse(String(lifecycle?.value)) as { readonly position: number };
    const waiting = db.prepare(`SELECT position FROM deliveries WHERE sink = ? AND state = 'pending'`).all(sink);
    return { last, pending: new Set(waiting.map(({ position }) => Number(position))) };
  } catch {
    // Without a file everything is decided again.
    return { last: 0, pending: new Set() };
  }
}

function watched(sink: Sink, own: BridgeRun): Sink {
  const send: Sink['send'] = async (batch, signal) => {
    if (own.isKilled) return own.killed.promise;
    if (trigger?.kind === 'batch') {
      passed += 1;
      if (passed === trigger.nth) killAfter(trigger.turns);
    }
    const positions = batch.map(({ json }) => (JSON.parse(json.toString()) as { readonly position: number }).position);
    const result = await time.during(Promise.race([sink.send(batch, signal), own.killed.promise]));
    if (result.kind === 'retry') copies[sink.name] = (copies[sink.name] ?? 0) + batch.length;
    const known = confirmed.get(sink.name) ?? new Set();
    confirmed.set(sink.name, known);
    if (result.kind === 'delivered') for (const position of positions) known.add(position);
    return result;
  };
  return { ...sink, send };
}

function killAfter(turns: number): void {
  if (turns === 0) kill();
  else setImmediate(() => killAfter(turns - 1));
}

async function start(order: BridgeRun['order']): Promise<void> {
  const { readConfig } = await fromSources({ sources }, 'config/read-config.ts');
  const { setProcessWide } = await fromSources({ sources }, 'process/process-wide.ts');
  const { runBridge } = await fromSources({ sources }, 'bridge.ts');
  const { configuration, stateDirectory, tokens } = order;
  const documents = [{ value: configuration, source: 'the test', keepsSecrets: true }];
  const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: stateDirectory });
  if (!config) throw new Error(problems.join(' '));
  setProcessWide(config);
  const own: BridgeRun = {
    order,
    stop: new AbortController(),
    ended: Promise.resolve(),
    isEnded: false,
    killed: Promise.withResolvers(),
    isKilled: false,
  };
  current = own;
  const open = sendersHere({ sources }, { imds: { url: tokens } });
  own.ended = runBridge({
    config,
    clock,
    log,
    stop: own.stop.signal,
    env: {},
    openSenders: async (options) => {
      const senders = await open(options);
      return { ...senders, sinks: senders.sinks.map((sink) => watched(sink, own)) };
    },
  }).then(
    () => {
      own.isEnded = true;
    },
    (error: unknown) => {
      own.isEnded = true;
      if (!own.isKilled) failure ??= error instanceof Error ? (error.stack ?? error.message) : String(error);
    },
  );
}

async function advance(ms: number): Promise<void> {
  for (let left = ms; left > 0 && !current?.isKilled; left -= 1000) await time.advance(Math.min(left, 1000));
}

async function execute(order: Order): Promise<void> {
  if (order.kind === 'use') {
    ({ sources } = order);
    setDefaultCACertificates([...getCACertificates('default'), order.ca]);
  } else if (order.kind === 'start') await start(order);
  else if (order.kind === 'arm') {
    passed = 0;
    ({ trigger } = order);
  } else if (order.kind === 'advance') await advance(order.ms);
  else if (order.kind === 'kill') kill();
  else if (order.kind === 'step clock') steppedMs += order.ms;
  if (order.kind === 'terminate' || current?.isKilled) await end();
}

process.on('message', (order: Order) => {
  execute(order).then(
    () => {
      const reply: Reply = { nowMs: time.now().getTime(), faults, isRunning: current !== null, copies, failure };
      process.send?.(reply);
      faults = [];
    },
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
