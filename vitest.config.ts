import { defineConfig } from 'vitest/config';
import { builtPrograms, compiledCode } from './test/support/program.ts';
import { Interleaved } from './test/support/sequencer.ts';

const isForCoverage = process.argv.some((argument) => argument.startsWith('--coverage'));
// Coverage of cached functions is less exact.
if (!isForCoverage) process.env.NODE_COMPILE_CACHE = compiledCode;

/** Files that change their process for good: environment, trusted authorities, the first token host that MSAL keeps. */
const alone = [
  'test/azure/token-source.test.ts',
  'test/azure-simulator/event-hubs/{expiry,faults,server}.test.ts',
  'test/azure-simulator/logs-ingestion/server.test.ts',
  'test/heartbeat/heartbeat.test.ts',
  'test/infra/examples/subscriber.test.ts',
  'test/process/process-wide.test.ts',
  'test/run-bridge.test.ts',
  'test/sender/**/*.test.ts',
  'test/sinks/proxy.test.ts',
  'test/tail/hub.test.ts',
  'test/sinks/*/{process,sdk-internals,sink}.test.ts',
];

/** `test/README.md` says what each project proves. */
export default defineConfig({
  test: {
    pool: 'forks',
    // Most of the time the end-to-end tests wait for a poll: beside three of them, two other files keep two cores busy.
    maxWorkers: 5,
    sequence: { sequencer: Interleaved },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/build-programs.ts'],
    env: { TEST_PROGRAMS: builtPrograms },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [
            'test/browser/**',
            'test/end-to-end/**',
            'test/host-*/**',
            'test/third-party/**',
            'test/tools/**',
            ...alone,
          ],
          // A process of its own for every file would spend a fifth of the time on starting and on loading the same modules.
          isolate: false,
          unstubEnvs: true,
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: alone },
      },
      {
        extends: true,
        test: {
          name: 'end-to-end',
          include: ['test/end-to-end/**/*.test.ts'],
          testTimeout: 240_000,
          // Those wait for each other's processor otherwise, and the product has deadlines of two seconds.
          maxConcurrency: 3,
        },
      },
      { extends: true, test: { name: 'tools', include: ['test/tools/**/*.test.ts'] } },
      { extends: true, test: { name: 'browser', include: ['test/browser/**/*.test.ts'] } },
      { extends: true, test: { name: 'third-party', include: ['test/third-party/**/*.test.ts'] } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/lifecycle/**/*.ts', 'src/outbox/**/*.ts', 'src/relay/**/*.ts'],
      reporter: ['text'],
      thresholds: { lines: 95 },
    },
  },
});
