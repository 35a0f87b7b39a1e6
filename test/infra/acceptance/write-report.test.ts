import { expect, test } from 'vitest';
import { createTextMask } from '../../../infra/acceptance/recordings/mask-text.ts';
import { exceptIds } from '../../../infra/acceptance/write-report.ts';

test('ids of steps stay in a report although the subscription is named like a part of one', () => {
  const mask = exceptIds(['read-test-record', 'read-test', 'vm'], createTextMask([{ kind: 'resource', name: 'Test' }]));
  expect(mask('read-test-record failed in Test; read-test and "read-test-record" too; see my-read-test.')).toBe(
    'read-test-record failed in Resource-0; read-test and "read-test-record" too; see my-read-resource-0.',
  );
});
