import { expect, test } from 'vitest';
import { createErrorLog } from '../../src/azure-simulator/errors.ts';

test('what a guarded handler throws, at once or later, is collected and not thrown', async () => {
  const log = createErrorLog();
  log.guard(() => {
    throw new Error('now');
  })();
  log.guard(async () => {
    throw new Error('later');
  })();
  await Promise.resolve();
  expect(log.errors.map(({ message }) => message)).toEqual(['now', 'later']);
});
