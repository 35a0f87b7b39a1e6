import { defineConfig } from 'vitest/config';

/** The area whose tests look for its mutants; `main.ts` sets it. */
const area = process.env.MUTATION_AREA ?? '{lifecycle,outbox,relay}';

/** The tests of one area in one process: without those that only start other processes, and those that take many seconds. */
export default defineConfig({
  test: {
    include: [`test/${area}/**/*.test.ts`],
    exclude: [
      'test/lifecycle/{fleet,fleet-model}.test.ts',
      'test/outbox/{crash,model,upgrade}.test.ts',
      'test/outbox/store/log-check.test.ts',
      'test/relay/properties.test.ts',
    ],
    isolate: false,
    unstubEnvs: true,
    testTimeout: 60_000,
  },
});
