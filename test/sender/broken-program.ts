import { createCalls } from '../../src/sender/calls.ts';
import { parentPort } from '../../src/sender/channel.ts';
import type { PollerMethods, SenderMethods } from '../../src/sender/protocol.ts';

/** A sender whose library does to its process what the text of the record says. */
const deeds: Readonly<Record<string, () => unknown>> = {
  'is well': () => ({ kind: 'delivered' }),
  'throws in a timer': () => {
    setTimeout(() => {
      const receiver: { readonly source?: { readonly address: string } } = {};
      return (receiver.source as { readonly address: string }).address;
    });
    return never();
  },
  'rejects unhandled': () => {
    void Promise.reject(new Error('no listener'));
    return never();
  },
  'fills its heap': () => {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, index) => ({ index })));
  },
  'keeps buffers': () => {
    const kept: Buffer[] = [];
    setInterval(() => kept.push(Buffer.alloc(16 * 1024 * 1024, 1)), 20);
    return never();
  },
  'keeps buffers without a pause': () => {
    const kept: Buffer[] = [];
    for (;;) kept.push(Buffer.alloc(1024 * 1024, 1));
  },
  blocks: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  'is stopped': () => {
    process.kill(process.pid, 'SIGSTOP');
    return never();
  },
  'is killed': () => process.kill(process.pid, 'SIGKILL'),
  ends: () => process.exit(7),
};

const never = (): Promise<never> => new Promise(() => {});

const port = parentPort();
if (port) {
  let cannotBegin = false;
  createCalls<PollerMethods, SenderMethods>(port, {
    async begin({ config }) {
      cannotBegin = Object.keys(config).length > 0;
      if (cannotBegin) throw new Error('what it needs is not there');
    },
    send: async ([first]) => {
      if (cannotBegin) throw new Error('what it needs is not there');
      return (await deeds[Buffer.from(first ?? []).toString()]?.()) as never;
    },
    status: async () => ({ deadlines: { missed: { send: 1 }, lateSettles: 0 }, residentBytes: 1, allocatedBytes: 1 }),
    check: never,
    heartbeat: never,
    token: never,
    close: async () => {},
  });
  process.once('disconnect', () => process.exit(0));
}
