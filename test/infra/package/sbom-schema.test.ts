import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { expect, test } from 'vitest';
import { sbom } from '../../../infra/package/sbom.ts';
import { moment, programHere, smallRuntime } from './harness.ts';

test('the schema of CycloneDX 1.6 finds nothing wrong with the bill of materials', async () => {
  const { version, bundled } = await programHere();
  const text = sbom({ version, platform: 'linux-x64', ...bundled, runtime: smallRuntime, at: moment });
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  expect(await validator.validate(text)).toBeNull();
  expect(await validator.validate(text.replace('"type": "library"', '"type": "libary"'))).not.toBeNull();
});
