import { expect, test } from 'vitest';
import { namesOf } from '../../../../infra/acceptance/azure/names.ts';
import { oneTimePassword, oneTimePublicKey } from '../../../../infra/acceptance/azure/one-time-credentials.ts';
import { azureSteps } from '../../../../infra/acceptance/azure/steps.ts';
import { newRunId } from '../../../../infra/acceptance/begin.ts';

const steps = azureSteps({ against: 'azure', windows: true });

test('a step needs only steps before it', () => {
  for (const [index, { id, needs }] of steps.entries()) {
    const before = steps.slice(0, index).map((step) => step.id);
    expect(
      needs.filter((need) => !before.includes(need)),
      id,
    ).toEqual([]);
  }
});

test('without Windows no step is about it', () => {
  const others = azureSteps({ against: 'azure', windows: false });
  expect(others.filter(({ id }) => id.includes('windows'))).toEqual([]);
  expect(others.length).toBe(steps.length - 2);
});

test('the names of a run are as Azure allows them', () => {
  // https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
  const names = namesOf({ id: newRunId() });
  expect(names.storageAccount).toMatch(/^[a-z0-9]{3,24}$/);
  expect(names.platform).toMatch(/^[a-z][a-z0-9-]{1,19}$/);
  expect(names.gallery).toMatch(/^[A-Za-z0-9_.]{1,80}$/);
  expect(names.windowsVm).toMatch(/^[a-z0-9-]{1,15}$/);
  expect(names.workspace).toBe(`log-${names.platform}`);
});

test('a one-time key is an RSA key in the format of SSH', () => {
  const [type, encoded, comment] = oneTimePublicKey().split(' ');
  expect([type, comment]).toEqual(['ssh-rsa', 'acceptance']);
  const blob = Buffer.from(encoded ?? '', 'base64');
  const fields: Buffer[] = [];
  for (let at = 0; at < blob.length; ) {
    const length = blob.readUInt32BE(at);
    fields.push(blob.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  const [name, exponent, modulus] = fields;
  expect(name?.toString()).toBe('ssh-rsa');
  expect(exponent?.toString('hex')).toBe('010001');
  // 2,048 bits after the zero that keeps the number positive.
  expect([modulus?.length, modulus?.[0]]).toEqual([257, 0]);
});

test('a one-time password has what Windows requires', () => {
  // https://learn.microsoft.com/azure/virtual-machines/windows/faq#what-are-the-password-requirements-when-creating-a-vm-
  const password = oneTimePassword();
  expect(password.length).toBeGreaterThanOrEqual(12);
  for (const kind of [/[a-z]/, /[A-Z]/, /\d/, /[^a-zA-Z\d]/]) expect(password).toMatch(kind);
});
