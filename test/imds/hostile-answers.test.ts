import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { fixture } from './fixture.ts';
import { http, type RawAnswer, startRawServer } from './raw-server.ts';

/** A poller in a process of its own: what it took at most is known at its end. */
const poller = (url: string, polls: number): string => `
  import { createImds } from '${import.meta.dirname}/../../src/imds/client.ts';
  import { systemClock } from '${import.meta.dirname}/../../src/clock.ts';
  const imds = createImds({
    endpoint: '${url}', apiVersion: '2020-07-01', timeoutMs: 30_000, firstTimeoutMs: 30_000, warm: () => true, clock: systemClock,
  });
  const never = new AbortController().signal;
  const seen = [];
  await imds.observe(never, seen);
  const before = process.resourceUsage().maxRSS;
  for (let poll = 0; poll < ${polls}; poll += 1) {
    const { kind, code } = await imds.observe(never, seen);
    seen.push(code ?? kind);
  }
  await imds.close();
  console.log(JSON.stringify({ seen, grownMegabytes: (process.resourceUsage().maxRSS - before) / 1024 }));`;

const chunked = (body: string, size: number): RawAnswer => {
  const chunk = `${size.toString(16)}\r\n${body.slice(0, size)}\r\n`;
  return (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(body.length / size)}0\r\n\r\n`);
  };
};

const megabyte = 2 ** 20;
const good = http(200, fixture('live-migration-2-scheduled'));
const events = (count: number): string =>
  JSON.stringify({
    DocumentIncarnation: 1,
    Events: Array.from({ length: count }, (_, n) => ({ EventId: `event-${n}` })),
  });

/** What the service of a VM with 256 MB for everything must survive. */
test.each<{ what: string; answer: RawAnswer; code: string }>([
  { what: '9 MB of brackets', answer: http(200, '['.repeat(9 * megabyte)), code: 'too-large' },
  { what: '1 MB of brackets', answer: http(200, '['.repeat(megabyte)), code: 'too-deep' },
  { what: '9 MB in single bytes', answer: chunked(' '.repeat(9 * megabyte), 1), code: 'too-large' },
  { what: '1 MB in single bytes', answer: chunked(' '.repeat(megabyte), 1), code: 'empty-body' },
  { what: '40,000 events', answer: http(200, events(40_000)), code: 'too-many-events' },
  {
    what: '1 MB of empty events',
    answer: http(200, `{"Events":[${'{},'.repeat(340_000)}{}]}`),
    code: 'too-many-events',
  },
])(
  '$what is no observation, takes little memory, and the next document is seen',
  async ({ answer, code }) => {
    await using server = await startRawServer();
    const answers = [good, answer, answer, answer, good];
    server.answer((socket, request) => answers.shift()?.(socket, request));
    const args = ['--input-type=module-typescript', '--no-warnings', '-e', poller(server.url, 4)];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
    const { seen, grownMegabytes } = JSON.parse(stdout) as { seen: string[]; grownMegabytes: number };
    console.log(`  ${code}: ${grownMegabytes.toFixed(0)} MB more`);
    expect(seen).toEqual([code, code, code, 'document']);
    expect(grownMegabytes).toBeLessThan(100);
  },
  90_000,
);
