import type { Log } from '../../../src/log.ts';
import { fromSources } from '../sources.ts';
import { createFastClock } from './fast-clock.ts';
import type { LogLine, Order, Reply, Resources } from './protocol.ts';

/**
 * A whole bridge in this process with a clock of the test, its real outbox file and the real libraries of Azure. A process of its own: a
 * library keeps the first token host that a process uses.
 */
const clock = createFastClock(Date.now());
let lines: LogLine[] = [];

const note = (fields: object, message: string): void => {
  // Errors do not survive the channel as such.
  const plain = JSON.parse(JSON.stringify(fields, (_, value) => (value instanceof Error ? value.message : value)));
  lines.push({ atMs: clock.now().getTime(), message, fields: plain });
};
const log: Log = { debug: () => {}, info: () => {}, warn: note, error: note, child: () => log };

async function start({ sources, configuration, stateDirectory }: Extract<Order, { kind: 'start' }>): Promise<void> {
  const { readConfig } = await fromSources({ sources }, 'config/read-config.ts');
  const { setProcessWide } = await fromSources({ sources }, 'process/process-wide.ts');
  const { runBridge } = await fromSources({ sources }, 'bridge.ts');
  const { inThisProcess } = await fromSources({ sources }, 'sender/senders.ts');
  const documents = [{ value: configuration, source: 'the test', keepsSecrets: true }];
  const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: stateDirectory });
  if (!config) throw new Error(problems.join(' '));
  setProcessWide(config);
  void runBridge({
    config,
    clock,
    log,
    // The test ends the process.
    stop: new AbortController().signal,
    openSenders: async (options) => {
      const senders = await inThisProcess(options);
      const sinks = senders.sinks.map((sink) => ({
        ...sink,
        send: (...given: Parameters<typeof sink.send>) => clock.during(sink.send(...given)),
      }));
      return { ...senders, sinks };
    },
  });
}

function measure(): Resources {
  const active = process.getActiveResourcesInfo();
  const timers = active.filter((kind) => kind === 'Timeout').length;
  const listeners = ['warning', 'exit', 'uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT'].reduce(
    (sum, event) => sum + process.listenerCount(event),
    0,
  );
  global.gc?.();
  const heapMegabytes = process.memoryUsage().heapUsed / 1024 / 1024;
  return { active: active.length - timers, timers, sleepers: clock.sleepers, listeners, heapMegabytes };
}

function replyTo({ kind }: Order): Reply {
  const log = lines;
  lines = [];
  return { nowMs: clock.now().getTime(), log, resources: kind === 'measure' ? measure() : null };
}

async function execute(order: Order): Promise<void> {
  if (order.kind === 'start') await start(order);
  else if (order.kind === 'advance') await clock.advance(order.ms);
}

process.on('warning', (warning) => note({ code: warning.name }, warning.message));
process.on('message', (order: Order) => {
  execute(order).then(
    () => process.send?.(replyTo(order)),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
