import { expect, test } from 'vitest';
import { installationFindings } from '../../../src/cli/check/installation.ts';

const ready = { folder: '1.0.0', unit: 'unit', configuration: 'a' };

test('check has no finding about the installation without one', () => {
  expect(installationFindings(null)).toEqual([]);
});

test('check is content with the version that was to be installed last', () => {
  expect(installationFindings({ ready, refused: null })).toMatchObject([
    { what: 'installation.version', verdict: 'ok' },
  ]);
});

test('check warns of a version that was to be installed and does not run, and names the log', () => {
  const refused = { version: '2.0.0', because: 'Version 2.0.0 did not become ready: it ended.' };
  expect(installationFindings({ ready, refused })).toMatchObject([
    {
      verdict: 'warning',
      message: expect.stringMatching(/^Version 2\.0\.0 was installed, but 1\.0\.0 was ready last: .*it ended\.$/),
      remedy: 'sudo scheduled-events-bridge service status',
    },
  ]);
});
