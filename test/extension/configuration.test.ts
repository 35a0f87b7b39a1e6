import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeDocuments } from '../../src/config/merge-documents.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { configurationIn } from '../../src/extension/configuration.ts';
import { runs } from '../support/runs.ts';

const merged: readonly { name: string; earlier: unknown; later: unknown; is: unknown }[] = [
  {
    name: 'the later overrides',
    earlier: { log: { level: 'info' } },
    later: { log: { level: 'warn' } },
    is: { log: { level: 'warn' } },
  },
  {
    name: 'null counts as not set',
    earlier: { sinks: { stdout: {} } },
    later: { sinks: { stdout: null } },
    is: { sinks: { stdout: {} } },
  },
  {
    name: 'sections are merged',
    earlier: { imds: { timeoutSeconds: 5 } },
    later: { imds: { pollIntervalSeconds: 2 } },
    is: { imds: { timeoutSeconds: 5, pollIntervalSeconds: 2 } },
  },
  {
    name: 'lists are replaced',
    earlier: { observer: { tags: ['a'] } },
    later: { observer: { tags: ['b'] } },
    is: { observer: { tags: ['b'] } },
  },
  { name: 'one of them is missing', earlier: null, later: { sinks: {} }, is: { sinks: {} } },
  { name: 'the other is missing', earlier: { sinks: {} }, later: null, is: { sinks: {} } },
];

test.for(merged)('two documents as one: $name', ({ earlier, later, is }) => {
  expect(mergeDocuments(earlier, later)).toEqual(is);
});

const url = fc.constantFrom('https://a.example.com/in', 'https://b.example.com/in');
const document = fc.record(
  {
    imds: fc.record(
      {
        pollIntervalSeconds: fc.integer({ min: 1, max: 5 }),
        timeoutSeconds: fc.option(fc.integer({ min: 1, max: 9 })),
      },
      { requiredKeys: [] },
    ),
    observer: fc.record(
      { tags: fc.array(fc.constantFrom('a', 'b')), vmName: fc.option(fc.constant('vm')) },
      { requiredKeys: [] },
    ),
    sinks: fc.record(
      { stdout: fc.constantFrom({}, true, false, null), http: fc.option(fc.record({ url }, { requiredKeys: [] })) },
      { requiredKeys: [] },
    ),
    log: fc.option(fc.record({ level: fc.constantFrom('info', 'warn', null) }, { requiredKeys: [] })),
  },
  { requiredKeys: [] },
);

test('what is written is read as the two documents are', () => {
  const numRuns = runs('merged documents', { quick: 100, full: 2_000 });
  const read = (...values: readonly unknown[]) => {
    const documents = values.map((value) => ({ value, source: 'a file', keepsSecrets: true }));
    const { config, problems } = readConfig({ documents, env: {}, defaultStateDirectory: '/var/lib/bridge' });
    return { config, problems };
  };
  fc.assert(
    fc.property(document, document, (earlier, later) => {
      expect(read(mergeDocuments(earlier, later))).toEqual(read(earlier, later));
    }),
    { numRuns },
  );
});

test('the configuration of Windows has its own state directory', () => {
  const documents = { publicSettings: { sinks: { stdout: {} } }, protectedSettings: null };
  const { stateDirectory } = configurationIn(documents, { platform: 'win32', env: { ProgramData: 'D:\\Data' } }) ?? {};
  expect(stateDirectory).toBe('D:\\Data\\scheduled-events-bridge\\state');
});
