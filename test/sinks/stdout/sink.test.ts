import { PassThrough, Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createStdoutSink } from '../../../src/sinks/stdout/sink.ts';
import { sampleEntry } from '../../support/sample-record.ts';
import { passesTheContract, type SinkUnderTest } from '../contract.ts';

/** A pipe whose reader can stop reading, or close. */
function openPipe(): SinkUnderTest {
  let text = '';
  let unread: (() => void)[] | null = null;
  let { end, sink } = openSink();

  function openSink() {
    const end = new Writable({
      write(chunk: Buffer, _encoding, taken) {
        const take = (): void => {
          text += chunk;
          taken();
        };
        if (unread) unread.push(take);
        else take();
      },
    });
    return { end, sink: createStdoutSink({ stream: end, sendMs: 200 }) };
  }
  const lines = (): string[] => text.split('\n').filter((line) => line !== '');

  return {
    get sink() {
      return sink;
    },
    arrived: () => lines().map((line) => JSON.parse(line).recordId),
    contents: lines,
    misbehave(how) {
      if (how === 'silent') unread = [];
      if (how === 'refused') end.destroy();
      if (how !== null) return;
      for (const take of unread ?? []) take();
      unread = null;
      if (end.destroyed) ({ end, sink } = openSink());
    },
    timeoutMs: 1000,
    tooMuch: [],
  };
}

// A pipe takes what it is given, in any amount and of any form.
passesTheContract('standard output', openPipe, { throttling: false, malformed: false, tooLarge: false });

test('a record is one line of standard output, byte for byte as it was stored', async () => {
  const stream = new PassThrough();
  const entry = sampleEntry({ description: 'line one\nline two' });
  await createStdoutSink({ stream }).send([entry], new AbortController().signal);
  expect(stream.read().toString()).toBe(`${entry.json}\n`);
});

test('a reader of standard output that closes midway does not end the process', async () => {
  const stream = new PassThrough();
  const sink = createStdoutSink({ stream });
  stream.destroy(Object.assign(new Error('broken pipe'), { code: 'EPIPE' }));
  expect(await sink.send([sampleEntry()], new AbortController().signal)).toMatchObject({ code: 'closed' });
});

test('output that is not read does not accumulate in memory', async () => {
  const stream = new PassThrough({ highWaterMark: 1 });
  const sink = createStdoutSink({ stream, sendMs: 50 });
  const never = new AbortController().signal;
  await sink.send([sampleEntry()], never);
  const held = stream.writableLength + stream.readableLength;
  for (let again = 0; again < 5; again += 1) {
    expect(await sink.send([sampleEntry()], never)).toMatchObject({ kind: 'retry', code: 'not-read' });
  }
  expect(stream.writableLength + stream.readableLength).toBe(held);
});
