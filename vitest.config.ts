import { defineConfig } from 'vitest/config';
import { builtPrograms, compiledCode } from './test/support/program.ts';
import { Interleaved } from './test/support/sequencer.ts';

const isForCoverage = process.argv.some((argument) => argument.startsWith('--coverage'));
// Coverage of cached functions is less exact.
if (!isForCoverage) process.env.NODE_COMPILE_CACHE = compiledCode;

const isForCosts = process.env.TEST_COSTS !== undefined;

/** Files that start hundreds of programs, which takes ten times as long from a process with 600 MB. */
const forking = [
  'test/azure-cli/azure-cli.test.ts',
  'test/cli/service/command.test.ts',
  'test/documents/commands.test.ts',
  'test/extension/{handler-script,lifecycle,settings,update}.test.ts',
  'test/service/{fall-back,install,interrupted,status,uninstall}.test.ts',
  'test/service/linux/{inspect,unit-file}.test.ts',
];

/** Files with a process of their own, which they change permanently: environment, trusted authorities, the first token host that MSAL keeps. */
const changing = [
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

const alone = [...forking, ...changing];

/** Files that ask the KQL engine. Microsoft's language service takes a second to load, is slow until it is compiled, and binds each query once per process. */
const queries = [
  'test/consumer/fleet-view-kql.test.ts',
  'test/documents/queries.test.ts',
  'test/infra/acceptance/data/*.test.ts',
  'test/infra/{alerts/deployed,examples/queries}.test.ts',
  'test/infra/{grafana,workbooks}/**/*.test.ts',
  'test/kql/**/*.test.ts',
];

/** Whole acceptance runs with the real Azure CLI. */
const acceptance = ['test/infra/acceptance/{az-stand-in,whole-run}/**/*.test.ts'];

const others = [
  ...acceptance,
  ...['browser', 'guest-agent', 'host-*', 'third-party', 'tools', 'wine'].map((folder) => `test/${folder}/**`),
  ...alone,
];
/** Files that leave their process as they found it share it, because loading the same modules again takes longer than most tests. */
const shared = { isolate: false, unstubEnvs: true } as const;
/** Many programs at a time may keep two cores busy. */
const patient = { testTimeout: 300_000, hookTimeout: 240_000 } as const;
const endToEnd = {
  ...shared,
  ...patient,
  // The tests of one file wait for each other's processor otherwise, and the product has deadlines of two seconds.
  maxConcurrency: 3,
} as const;

/**
 * Projects that exist on request only, for `npm test`; otherwise `vitest run FILE` would run a file in two projects. The first is for both
 * kinds, because Vitest ends a shared process as soon as the next file is of another project. For the same reason each of the others has two or
 * three processes instead of six: `test/support/sequencer.ts` puts its files next to each other.
 */
const together = 'unit-and-end-to-end';
const isForAll = process.argv.some((argument) => argument.endsWith(together));

/** `test/README.md` says what each project proves. */
export default defineConfig({
  test: {
    pool: 'forks',
    // Most of the time the end-to-end tests wait for a poll: beside four of them, two other files keep two cores busy.
    maxWorkers: 6,
    sequence: { sequencer: Interleaved },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    globalSetup: ['test/support/build-programs.ts', ...(isForCosts ? ['test/support/costs-table.ts'] : [])],
    setupFiles: isForCosts ? ['test/support/costs.ts'] : [],
    env: { TEST_PROGRAMS: builtPrograms },
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/end-to-end/**', ...others],
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: isForAll ? changing : alone },
      },
      {
        extends: true,
        test: {
          ...endToEnd,
          name: 'end-to-end',
          include: ['test/end-to-end/**/*.test.ts'],
        },
      },
      ...(isForAll
        ? [
            {
              extends: true as const,
              test: { ...endToEnd, name: together, include: ['test/**/*.test.ts'], exclude: [...others, ...queries] },
            },
            { extends: true as const, test: { ...shared, name: 'queries', include: queries } },
            { extends: true as const, test: { ...shared, name: 'forking', include: forking } },
          ]
        : []),
      { extends: true, test: { name: 'tools', include: ['test/tools/**/*.test.ts'] } },
      { extends: true, test: { ...patient, name: 'browser', include: ['test/browser/**/*.test.ts'] } },
      { extends: true, test: { ...patient, name: 'third-party', include: ['test/third-party/**/*.test.ts'] } },
      { extends: true, test: { ...patient, name: 'acceptance', include: acceptance, testTimeout: 600_000 } },
      { extends: true, test: { ...patient, name: 'wine', include: ['test/wine/**/*.test.ts'] } },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/lifecycle/**/*.ts', 'src/outbox/**/*.ts', 'src/relay/**/*.ts'],
      reporter: ['text'],
      thresholds: { lines: 95 },
    },
  },
});
