import { isUtf8 } from 'node:buffer';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { isDeepStrictEqual } from 'node:util';
import type { LifecycleState } from '../../../src/lifecycle/state.ts';
import type { Random } from '../../fleet-model/random.ts';
import { appendRecords } from '../../outbox/harness.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { noon, observerNamed, settled } from '../../support/observations.ts';
import { load } from '../product.ts';
import { mutatedBytes, mutatedValue } from './mutate.ts';

/** Tries one mutation. @returns what is wrong, or null. Throwing is wrong too. */
export type Target = (random: Random) => string | null | Promise<string | null>;

const document = {
  DocumentIncarnation: 3,
  Events: ['602D9444-D2CD-49C7-8624-8643E7171297', '1F3B0A5E-8E1B-4B0C-9E0A-3E5B3B6E1B11'].map((EventId, n) => ({
    ...{ EventId, EventStatus: n === 0 ? 'Scheduled' : 'Started', EventType: 'Freeze', ResourceType: 'VirtualMachine' },
    ...{ Resources: ['web_0', 'web_1'], NotBefore: n === 0 ? 'Sun, 01 Mar 2026 12:15:00 GMT' : '' },
    ...{
      Description: 'Virtual machine is being paused.',
      EventSource: 'Platform',
      DurationInSeconds: 5,
      Unknown: { a: [1] },
    },
  })),
};

export async function documentTarget(sources: string): Promise<Target> {
  const { parseDocument } = await load<typeof import('../../../src/imds/document.ts')>(sources, 'imds/document.ts');
  const { transition } = await load<typeof import('../../../src/lifecycle/transition.ts')>(
    sources,
    'lifecycle/transition.ts',
  );
  const observer = observerNamed('web_0');
  let state: LifecycleState = settled;
  let seconds = 0;
  return (random) => {
    const isBytes = random.chance(0.5);
    const bytes = isBytes
      ? mutatedBytes(JSON.stringify(document), random)
      : Buffer.from(JSON.stringify(mutatedValue(document, random)) ?? '');
    const parsed = parseDocument(bytes.toString(), random.pick(['2017-03-01', '2020-07-01']), isUtf8(bytes));
    if (parsed.kind !== 'document') return wrongMessage(parsed.reason, [/answer/]);
    const raw = rawEntries(bytes.toString());
    for (const event of parsed.document.events)
      if (!raw.some((entry) => isDeepStrictEqual(entry, event.raw)) && depthOf(raw) < 50)
        return `the entry of ${event.eventId} is not kept as it was`;
    seconds += 1;
    if (random.chance(0.05)) state = settled;
    const at = new Date(noon + seconds * 1000);
    const seen = { ...parsed, imdsApiVersion: '2020-07-01' as const, azureTime: at, clockOffsetSeconds: 0 };
    const given = {
      ...{
        host: { bootId: 'boot-1', physicalHost: null, tick: null, wallStepMs: 0 },
        observer,
        scope: { witnessRate: 1 },
      },
      ...{ gapAfterMs: 10_000, enablingMs: 0, bridgeVersion: '1.2.3', at, monotonicMs: seconds * 1000 },
    };
    const result = transition(state, seen, given);
    state = result.state;
    for (const record of result.records)
      if (JSON.stringify(record).length > 256 * 1024) return 'a record is larger than 256 KB';
    return state.events.size > 5_000 ? `${state.events.size} events are remembered` : null;
  };
}

const rawEntries = (text: string): readonly unknown[] => (JSON.parse(text) as { Events: unknown[] }).Events;

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

const configuration = {
  $comment: 'a comment',
  stateDirectory: '/var/lib/x',
  log: { level: 'warn' },
  imds: { pollIntervalSeconds: 1 },
  outbox: { maxMegabytes: 64 },
  sinks: {
    eventHubs: { fullyQualifiedNamespace: 'events.servicebus.windows.net', eventHub: 'scheduled-events' },
    logAnalytics: {
      ...{ endpoint: 'https://dce-x.westeurope-1.ingest.monitor.azure.com', ruleId: `dcr-${'0a'.repeat(16)}` },
      stream: 'Custom-ScheduledEvents_CL',
    },
    stdout: {},
  },
};

export async function configurationTarget(sources: string, directory: string): Promise<Target> {
  const { loadConfig } = await load<typeof import('../../../src/config/load-config.ts')>(
    sources,
    'config/load-config.ts',
  );
  const file = join(directory, 'fuzzed.json');
  const names = ['LOG_LEVEL', 'OUTBOX_MAX_MEGABYTES', 'SINKS_EVENT_HUBS_EVENT_HUB', 'STATE_DIRECTORY', 'NO_SUCH'];
  return (random) => {
    writeFileSync(file, mutatedJson(configuration, random), { mode: 0o600 });
    const variables = random
      .some(names, 0.2)
      .map((name) => [
        `SCHEDULED_EVENTS_BRIDGE_${name}`,
        mutatedBytes(random.pick(['64', 'warn', '/state', '']), random).toString('latin1'),
      ]);
    const loaded = loadConfig({ file, env: Object.fromEntries(variables), platform: 'linux' });
    if (loaded.config) return null;
    if (loaded.problems.length === 0) return 'a configuration was refused without a message';
    return first(
      loaded.problems.map((problem) => wrongMessage(problem, [/fuzzed\.json|SCHEDULED_EVENTS_BRIDGE_|sinks|approve/])),
    );
  };
}

export async function settingsTarget(sources: string): Promise<Target> {
  const { settingsIn } = await load<typeof import('../../../src/extension/settings.ts')>(
    sources,
    'extension/settings.ts',
  );
  const { configurationIn } = await load<typeof import('../../../src/extension/configuration.ts')>(
    sources,
    'extension/configuration.ts',
  );
  const handlerSettings = {
    ...{ publicSettings: configuration, protectedSettings: 'MIIBsAYJKoZIhvcNAQcDoIIBoTCCAZ0CAQAxggFo' },
    protectedSettingsCertThumbprint: '0a'.repeat(20),
  };
  return (random) => {
    let content: ReturnType<typeof settingsIn>;
    try {
      content = settingsIn(mutatedJson({ runtimeSettings: [{ handlerSettings }] }, random).toString());
    } catch (error) {
      return refusal(error, [/^they |^their /]);
    }
    try {
      const protectedSettings = random.chance(0.3) ? mutatedValue(configuration, random) : null;
      configurationIn({ publicSettings: content.publicSettings, protectedSettings }, { platform: 'linux', env: {} });
      return null;
    } catch (error) {
      return refusal(error, [/settings/]);
    }
  };
}

/** A deliberate refusal is not an error of the program. */
function refusal(error: unknown, patterns: readonly RegExp[]): string | null {
  if (!(error instanceof Error)) return `it threw ${String(error)}`;
  if (['TypeError', 'RangeError', 'SyntaxError', 'ReferenceError'].includes(error.name)) return String(error.stack);
  return wrongMessage(error.message, patterns);
}

/** A message says what and where, and shows no inner workings. */
function wrongMessage(message: string, patterns: readonly RegExp[]): string | null {
  const isVague = /\[object |undefined is|is not a function|Cannot read propert/.test(message);
  const isWhole = patterns.every((pattern) => pattern.test(message)) && message.length < 5_000;
  return isVague || !isWhole ? `the message does not say what is wrong, and where: ${message.slice(0, 300)}` : null;
}

const first = (problems: readonly (string | null)[]): string | null =>
  problems.find((problem) => problem !== null) ?? null;

const mutatedJson = (value: unknown, random: Random): Buffer =>
  random.chance(0.5)
    ? mutatedBytes(JSON.stringify(value), random)
    : Buffer.from(JSON.stringify(mutatedValue(value, random)) ?? '');

/** Columns with JSON, of each row that holds some; the state has checksums, which are changed or removed with it. */
const cells = [
  ['meta', 'value', "key = 'lifecycle'"],
  ['meta', 'value', "key = 'observer'"],
  ['meta', 'value', "key = 'recovery'"],
  ['events', 'json', 'true'],
  ['requests', 'argument', 'true'],
  ['tombstones', 'sinks', 'true'],
  ['sinks', 'lastErrorReason', 'true'],
  ['approvals', 'terms', 'true'],
] as const;

export async function rowTarget(sources: string, directory: string): Promise<Target> {
  const { openOutbox } = await load<typeof import('../../../src/outbox/durable-outbox.ts')>(
    sources,
    'outbox/durable-outbox.ts',
  );
  const { OutboxFile } = await load<typeof import('../../../src/outbox/store/outbox-file.ts')>(
    sources,
    'outbox/store/outbox-file.ts',
  );
  const { OutboxDamaged } = await load<typeof import('../../../src/outbox/store/errors.ts')>(
    sources,
    'outbox/store/errors.ts',
  );
  const { openIntents } = await load<typeof import('../../../src/outbox/control/approvals.ts')>(
    sources,
    'outbox/control/approvals.ts',
  );
  const { unansweredRequests } = await load<typeof import('../../../src/outbox/control/requests.ts')>(
    sources,
    'outbox/control/requests.ts',
  );
  const path = join(directory, 'rows');
  mkdirSync(path);
  const silent = { debug() {}, info() {}, warn() {}, error() {}, child: () => silent };
  const outbox = openOutbox({
    directory: path,
    sinks: ['hub'],
    maxMegabytes: 64,
    clock: createFakeClock(),
    log: silent,
    version: '1.2.3',
  });
  appendRecords(outbox, { count: 2 });
  outbox.rememberObserver(observerNamed('web_0'), 'boot-1');
  outbox.intend({ eventId: 'EVENT-1', cause: 'a rule', at: new Date(noon), terms: null });
  outbox.purge({ state: 'pending', limit: 1 });
  outbox.close();
  const db = new DatabaseSync(join(path, 'outbox.sqlite'));
  db.exec(`INSERT INTO requests (verb, argument, requestedAt) VALUES ('purge', '{"state":"dead"}', '2026-01-01T00:00:00.000Z');
    INSERT INTO meta (key, value) VALUES ('recovery', '{"at":"2026-01-01T00:00:00.000Z","reason":"x","movedTo":"y","salvaged":{"stream":true,"events":1,"records":1,"lost":0}}')`);
  return (random) => {
    const [table, column, where] = random.pick(cells);
    db.exec('SAVEPOINT fuzz');
    try {
      const row = db.prepare(`SELECT ${column} AS value FROM ${table} WHERE ${where} LIMIT 1`).get();
      const value = String(row?.value ?? 'null');
      const mutated = random.chance(0.5) ? mutatedBytes(value, random) : mutatedJson(parsedOr(value), random);
      const bound = random.chance(0.3) ? mutated : mutated.toString();
      db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(bound);
      new OutboxFile(db, join(path, 'outbox.sqlite'), null);
      openIntents(db);
      unansweredRequests(db);
      return null;
    } catch (error) {
      // A column may refuse it as well.
      if (error instanceof OutboxDamaged || /constraint failed|cannot store/.test(String(error))) return null;
      return `${table}.${column}: ${error instanceof Error ? error.stack : error}`;
    } finally {
      db.exec('ROLLBACK TO fuzz; RELEASE fuzz');
    }
  };
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export async function statusTarget(sources: string, directory: string, snapshot: unknown): Promise<Target> {
  const { readStatus } = await load<typeof import('../../../src/cli/status/status.ts')>(
    sources,
    'cli/status/status.ts',
  );
  const { statusPage } = await load<typeof import('../../../src/cli/status/page.ts')>(sources, 'cli/status/page.ts');
  const { systemClock } = await load<typeof import('../../../src/clock.ts')>(sources, 'clock.ts');
  const { Failure } = await load<typeof import('../../../src/cli/exit-codes.ts')>(sources, 'cli/exit-codes.ts');
  const path = join(directory, 'fuzzed.sock');
  let reply: Buffer = Buffer.alloc(0);
  const server = createServer((socket) => socket.on('error', () => {}).end(reply));
  await new Promise<void>((resolve) => server.listen(path, resolve));
  server.unref();
  return async (random) => {
    reply = mutatedJson(snapshot, random);
    try {
      statusPage(await readStatus(directory, { clock: systemClock, maxMegabytes: 64, paths: [path] }));
      return null;
    } catch (error) {
      return error instanceof Failure
        ? wrongMessage(error.message, [/outbox|service/i])
        : `status: ${(error as Error).stack}`;
    }
  };
}
