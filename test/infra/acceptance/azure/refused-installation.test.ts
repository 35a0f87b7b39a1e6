import { expect, test } from 'vitest';
import { AzError } from '../../../../infra/acceptance/az.ts';
import { refusalOf } from '../../../../infra/acceptance/azure/refused-installation.ts';

test.for([
  { name: 'took too long', exitCode: null, message: 'no result within 60 minutes' },
  { name: 'lost its connection', exitCode: 1, message: 'Read timed out' },
])('an installation whose call $name was not refused', async ({ exitCode, message }) => {
  const error = new AzError(`az vm application set: ${message}`, { args: [], code: null, exitCode });
  await expect(refusalOf(() => Promise.reject(error))).rejects.toBe(error);
});
