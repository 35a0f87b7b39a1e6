import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundle } from '../../infra/package/bundle.ts';
import { root } from '../support/source-tree.ts';

/** A negative control: a bridge with this error must fail the test. It shows that the test can find what it is for. */
export interface Control {
  /** Words and hyphens. */
  readonly id: string;
  /** What is wrong with the bridge, as a phrase. */
  readonly title: string;
  /** The test that must fail. */
  readonly test: string;
  /** A file below the root of the repository, and the one place in it that is changed. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export const controls: readonly Control[] = [
  {
    id: 'commits-delayed',
    title: 'the outbox goes on before its commit, which may come three seconds later',
    test: 'random-kills',
    file: 'src/outbox/durable-outbox.ts',
    find: 'if (this.#rest && !isAll) return;',
    replace: 'if (!isEnd && performance.now() % 4000 > 1000) return;',
  },
  {
    id: 'buffer-not-kept',
    title: 'a commit that fails discards what it held',
    test: 'file-calls',
    file: 'src/outbox/durable-outbox.ts',
    find: 'if (isWritten) {',
    replace: 'this.#buffer.clear();\n    if (isWritten) {',
  },
  {
    id: 'synchronous-off',
    title: 'a commit does not wait for the disk',
    test: 'power-cut',
    file: 'src/outbox/store/connection.ts',
    find: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL',
    replace: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF',
  },
  {
    id: 'synchronous-normal',
    title: 'a commit waits for the disk only when the log is played back',
    test: 'flush-before-send',
    file: 'src/outbox/store/connection.ts',
    find: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL',
    replace: 'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL',
  },
  {
    id: 'log-not-checked',
    title: 'what is missing at the end of the log is taken for a transaction that was cut off',
    test: 'damaged-files',
    file: 'src/outbox/store/open.ts',
    find: 'if (lost !== null) isRecovered',
    replace: "if (lost === '') isRecovered",
  },
  {
    id: 'checksum-kept',
    title: 'a checksum stays when an earlier version changes what it is of',
    test: 'upgrade',
    file: 'src/outbox/store/schema/1001.ts',
    find: "DELETE FROM meta WHERE key = NEW.key || '.crc';",
    replace: 'SELECT 1;',
  },
  {
    id: 'acknowledged-unsent',
    title: 'a record counts as delivered once the process that sends has it',
    test: 'fault-points',
    file: 'src/sender/remote.ts',
    find: 'return await result;',
    replace: "void result.catch(() => {}); return { kind: 'delivered' };",
  },
  {
    id: 'sent-twice',
    title: 'every batch is sent twice',
    test: 'duplicate-budget',
    file: 'src/relay/send.ts',
    find: 'return await sink.send(batch, signal);',
    replace: 'await sink.send(batch, signal); return await sink.send(batch, signal);',
  },
  {
    id: 'waits-for-more',
    title: 'a record waits three seconds for others',
    test: 'lone-event',
    file: 'src/relay/relay.ts',
    find: '{ position, isOwn });\n    }\n    this.#notifier.notify();',
    replace: '{ position, isOwn });\n    }\n    setTimeout(() => this.#notifier.notify(), 3000);',
  },
  {
    id: 'flushes-for-a-minute',
    title: 'the end waits a minute for pending records',
    test: 'termination',
    file: 'src/bridge.ts',
    find: 'const flushMs = 5000;',
    replace: 'const flushMs = 60_000;',
  },
  {
    id: 'lock-shared',
    title: 'two instances can hold the lock of a state directory',
    test: 'second-instance',
    file: 'src/outbox/store/lock.ts',
    find: "db.exec('BEGIN EXCLUSIVE')",
    replace: "db.exec('BEGIN')",
  },
  {
    id: 'open-event-discarded',
    title: 'a full outbox discards events that have not ended',
    test: 'model-sequences',
    file: 'src/outbox/store/retention.ts',
    find: '.filter(({ isOpen }) => !isOpen)',
    replace: '.filter(() => true)',
  },
  {
    id: 'bound-below-content',
    title: 'after a restart the bound of the outbox may be smaller than what it holds',
    test: 'model-sequences',
    file: 'src/outbox/store/retention.ts',
    find: 'Math.max(leastBytes, polite, untouched, withLog(usedBytes / pruneShare.from))',
    replace: 'Math.max(leastBytes, polite)',
  },
  {
    id: 'bound-below-backlog',
    title: 'after a restart on a disk that others filled, the bound of the outbox is smaller than what waits',
    test: 'combinations',
    file: 'src/outbox/store/retention.ts',
    find: 'Math.max(leastBytes, polite, untouched, withLog(usedBytes / pruneShare.from))',
    replace: 'Math.max(leastBytes, polite)',
  },
  {
    id: 'discarded-uncounted',
    title: 'what is discarded for lack of room counts as delivered',
    test: 'combinations',
    file: 'src/outbox/store/quota.ts',
    find: "changes.move(sink, state, isLost ? 'expired' : 'delivered');",
    replace: "changes.move(sink, state, 'delivered');",
  },
  {
    id: 'pause-by-wall-clock',
    title: 'a stored pause ends by the wall clock, which may have gone back',
    test: 'combinations',
    file: 'src/relay/delivery-tracker.ts',
    find: 'until - Date.parse(lastErrorAt), longestRetryAfterMs)',
    replace: '(until - Date.parse(lastErrorAt)) * 1e6)',
  },
  {
    id: 'answers-not-awaited',
    title: 'a record counts as delivered before its sink has answered',
    test: 'combinations',
    file: 'src/relay/send.ts',
    find: 'return await sink.send(batch, signal);',
    replace: "void sink.send(batch, signal).catch(() => {}); return { kind: 'delivered' };",
  },
  {
    id: 'event-in-two-batches',
    title: 'records of one event may be in several batches in flight',
    test: 'combinations',
    file: 'src/relay/relay.ts',
    find: 'for (const eventKey of eventKeys) this.#busy.add(eventKey);',
    replace: '',
  },
  {
    id: 'failed-commit-discarded',
    title: 'what a failed commit held is discarded',
    test: 'combinations',
    file: 'src/outbox/durable-outbox.ts',
    find: 'if (isWritten) {',
    replace: 'this.#buffer.clear();\n    if (isWritten) {',
  },
  {
    id: 'removed-file-kept',
    title: 'a state directory that is moved away is not created again',
    test: 'combinations',
    file: 'src/outbox/store/disk.ts',
    find: 'if (displacement !== null) this.#recreateFiles(displacement);',
    replace: '',
  },
  {
    id: 'commits-late',
    title: 'what is observed is written once a minute',
    test: 'combinations',
    file: 'src/outbox/durable-outbox.ts',
    find: 'if (this.#rest && !isAll) return;',
    replace: 'if (!isEnd && this.#options.clock.monotonicMs() % 60_000 > 10_000) return;',
  },
  {
    id: 'move-not-counted',
    title: 'the counters of a sink do not count what is delivered',
    test: 'random-kills',
    file: 'src/outbox/store/counters.ts',
    find: 'this.#add(sink, to, deliveries);',
    replace: "if (to !== 'delivered') this.#add(sink, to, deliveries);",
  },
  {
    id: 'entry-rebuilt',
    title: 'the unknown fields of an event are dropped',
    test: 'fuzz',
    file: 'src/imds/document.ts',
    find: 'raw: isDeeperThan(deepestNesting, entry) ? withoutNesting(entry) : entry,',
    replace: 'raw: { EventId: entry.EventId, EventStatus: entry.EventStatus, Resources: entry.Resources },',
  },
  {
    id: 'connects-for-nothing',
    title: 'the event hub is connected to although no event is about to start',
    test: 'idle-day',
    file: 'src/sinks/event-hubs/connection.ts',
    find: 'startDue: startDue(),',
    replace: 'startDue: true,',
  },
  {
    id: 'bound-decided-once',
    title: 'the bound of an outbox that was opened on a full disk stays when there is space',
    test: 'bad-disk',
    file: 'src/outbox/store/quota.ts',
    find: 'if (limit < fill.limitBytes + largestWriteBytes) return false;',
    replace: 'if (limit >= 0) return false;',
  },
  {
    id: 'isolates-one-by-one',
    title: 'a refused batch is searched record by record',
    test: 'refused-records',
    file: 'src/relay/delivery-tracker.ts',
    find: 'const middle = Math.ceil(batch.length / 2);',
    replace: 'const middle = 1;',
  },
  {
    id: 'stored-pause-unbounded',
    title: 'a pause that is stored ends by the wall clock, however long that takes',
    test: 'clock-jumps',
    file: 'src/relay/delivery-tracker.ts',
    find: 'until - Date.parse(lastErrorAt), longestRetryAfterMs)',
    replace: '(until - Date.parse(lastErrorAt)) * 1e6)',
  },
  {
    id: 'whole-backlog-read',
    title: 'a start reads everything that waits, twenty times',
    test: 'large-start',
    file: 'src/outbox/durable-outbox.ts',
    find: 'this.#state = file ? resumed(file.state, this.#options) : newState();',
    replace:
      "for (let n = 0; n < 20; n += 1) file?.pending('event-hubs', { limit: 1e9 }, this.#buffer.settled('event-hubs')); this.#state = file ? resumed(file.state, this.#options) : newState();",
  },
  {
    id: 'backlogs-read-together',
    title: 'each read of a sink reads the backlog of every sink',
    test: 'sink-outage',
    file: 'src/outbox/durable-outbox.ts',
    find: 'const found = this.#read((file) => file.pending(sink, query, this.#buffer.settled(sink))) ?? [];',
    replace:
      'for (const each of this.#options.sinks) this.#read((file) => file.pending(each, { limit: 1e9 }, this.#buffer.settled(each))); const found = this.#read((file) => file.pending(sink, query, this.#buffer.settled(sink))) ?? [];',
  },
  {
    id: 'table-retry-defaults',
    title: 'the library retries requests to the table as it does by default, and sleeps a Retry-After in the call',
    test: 'throttling',
    file: 'src/sinks/log-analytics/client.ts',
    find: 'retryOptions: { maxRetries: 0 },',
    replace: '',
  },
  {
    id: 'hub-retry-defaults',
    title: 'the library retries sends to the event hub as it does by default',
    test: 'hub-refusals',
    file: 'src/sinks/event-hubs/amqp-client.ts',
    find: 'retryOptions: { maxRetries: 0, timeoutInMs: exchangeMs },',
    replace: '',
  },
  {
    id: 'retries-end',
    title: 'a record is discarded after five minutes of failures',
    test: 'denied',
    file: 'src/relay/delivery-tracker.ts',
    find: "else if (decision.kind === 'retry') onRetry(sentBatch, decision);",
    replace:
      "else if (decision.kind === 'retry' && ageMs > 300_000) onDead(delivery, decision);\n      else if (decision.kind === 'retry') onRetry(sentBatch, decision);",
  },
  {
    id: 'long-deadline',
    title: 'the bridge waits a minute for a peer that does not answer',
    test: 'black-holes',
    file: 'src/azure/deadline.ts',
    find: 'export const answerMs = 12_000;',
    replace: 'export const answerMs = 60_000;',
  },
  {
    id: 'token-not-awaited',
    title: 'a sink that failed for lack of a token is not tried when there is one',
    test: 'tokens',
    file: 'src/bridge.ts',
    find: 'relay.resume(lacksToken);',
    replace: 'relay.resume(() => false);',
  },
  {
    id: 'any-certificate',
    title: 'any certificate is trusted',
    test: 'certificates',
    file: 'src/process/process-wide.ts',
    find: '  setProxy(config, env);',
    replace: "  setProxy(config, env);\n  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';",
  },
  {
    id: 'answers-unbounded',
    title: 'answers may have any length',
    test: 'hostile-answers',
    file: 'src/azure/bounded-http.ts',
    find: 'if (size > mostBytes)',
    replace: 'if (size < 0)',
  },
];

/** A text with the change of a control. @throws where its place is not there exactly once: then the control has to follow the code. */
export function patched(text: string, { id, file, find, replace }: Control): string {
  const count = text.split(find).length - 1;
  if (count !== 1) throw new Error(`the control ${id} finds its place ${count} times in ${file}`);
  return text.replace(find, () => replace);
}

/** Copies the sources into this folder and applies the control there. @returns the bundled bridge, and its sources. */
export async function applyControl(control: Control, folder: string): Promise<{ program: string; sources: string }> {
  for (const name of ['src', 'infra', 'package.json', 'tsconfig.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const file = join(folder, control.file);
  writeFileSync(file, patched(readFileSync(file, 'utf8'), control));
  const program = join(folder, 'scheduled-events-bridge.cjs');
  await bundle(program, { absWorkingDir: folder, entryPoints: [join(folder, 'src/main.ts')], logLevel: 'error' });
  return { program, sources: join(folder, 'src') };
}
