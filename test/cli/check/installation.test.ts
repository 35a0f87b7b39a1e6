import { expect, test } from 'vitest';
import { installationFindings } from '../../../src/cli/check/installation.ts';
import { linux, windows } from '../../../src/operating-system.ts';

const ready = { folder: '1.0.0', unit: 'unit', configuration: 'a' };

test('check has no finding about the installation without one', () => {
  expect(installationFindings(null, linux)).toEqual([]);
});

test('check is content with the version that was to be installed last', () => {
  expect(installationFindings({ ready, refused: null }, linux)).toMatchObject([
    { what: 'installation.version', verdict: 'ok' },
  ]);
});

test('check warns of a version that was to be installed and does not run, and names the log', () => {
  const refused = { version: '2.0.0', because: 'Version 2.0.0 did not become ready: it ended.' };
  expect(installationFindings({ ready, refused }, linux)).toMatchObject([
    {
      verdict: 'warning',
      message: expect.stringMatching(/^Version 2\.0\.0 was installed, but 1\.0\.0 was ready last: .*it ended\.$/),
      remedy: 'sudo scheduled-events-bridge service status',
    },
  ]);
  expect(installationFindings({ ready, refused }, windows)[0]?.remedy).toMatch(/^& ".*\.cmd" service status$/);
});
