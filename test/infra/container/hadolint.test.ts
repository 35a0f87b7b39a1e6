import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../support/source-tree.ts';

/** https://github.com/hadolint/hadolint; `test/scanners/prepare` fetches it. */
const hadolint = join(root, 'node_modules/.cache/scanners/bin/hadolint');
const there = spawnSync(hadolint, ['--version'], { encoding: 'utf8' });
const missing = there.error?.message ?? (there.status === 0 ? null : `exit code ${there.status}`);
if (missing !== null) {
  console.warn(`  skipped: what hadolint says of the Dockerfile (${missing}); test/scanners/prepare fetches it`);
}

const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');

/** Rules that it finds broken, each with its line. */
function findings(text: string): string[] {
  const options = ['--no-color', '--failure-threshold', 'style', '--format', 'json', '-'];
  const { stdout } = spawnSync(hadolint, options, { input: text, encoding: 'utf8', cwd: root });
  const found = JSON.parse(stdout) as readonly { readonly code: string; readonly line: number }[];
  return found.map(({ code, line }) => `${code} in line ${line}`);
}

describe.skipIf(missing)('hadolint', () => {
  test('finds no problem in the Dockerfile, which disables none of its rules', () => {
    expect(findings(dockerfile)).toEqual([]);
    expect(dockerfile).not.toMatch(/hadolint/);
  });

  test.each([
    { fault: 'a base without a tag', text: `${dockerfile}\nFROM debian\n`, code: 'DL3006' },
    { fault: 'a command for a shell', text: `${dockerfile}\nENTRYPOINT node x.cjs\n`, code: 'DL3025' },
    { fault: 'root in the end', text: `${dockerfile}\nUSER root\n`, code: 'DL3002' },
  ])('finds $fault', ({ text, code }) => {
    expect(findings(text).some((finding) => finding.startsWith(code))).toBe(true);
  });
});
