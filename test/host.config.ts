import { defineConfig } from 'vitest/config';

/** What needs a machine of its own, booted or in containers: `npm run test:host`. */
export default defineConfig({
  test: {
    name: 'host',
    pool: 'forks',
    maxWorkers: 2,
    include: ['test/guest-agent/**/*.test.ts', 'test/host-*/**/*.test.ts'],
    // With the name of every test, since that says why one is skipped.
    reporters: ['verbose'],
    globalSetup: ['test/host-install/global-setup.ts'],
    testTimeout: 600_000,
    hookTimeout: 900_000,
  },
});
