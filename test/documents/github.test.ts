import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readTree, root } from '../support/source-tree.ts';

const files = readTree('.github/**/*.yml');

test.for([...files])('%s is YAML', ([, text]) => {
  expect(parse(text)).toBeTypeOf('object');
});

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Record<string, { readonly steps: readonly { readonly run?: string; readonly uses?: string }[] }>;
}

test('the workflow runs .ci/run with read access only, and only actions of GitHub itself', () => {
  const workflow: Workflow = parse(files.get('.github/workflows/ci.yml') ?? '');
  expect(workflow.permissions).toEqual({ contents: 'read' });
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  expect(steps.flatMap(({ run }) => run ?? [])).toEqual(['.ci/run']);
  for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
});

test('the files whose hash names the cache of the workflow are there', () => {
  const [, patterns = ''] = /hashFiles\(([^)]*)\)/.exec(files.get('.github/workflows/ci.yml') ?? '') ?? [];
  const named = [...patterns.matchAll(/'([^']+)'/g)].map(([, pattern = '']) => pattern);
  expect(named.length).toBeGreaterThan(1);
  for (const pattern of named) expect(globSync(pattern, { cwd: root }).length, pattern).toBeGreaterThan(0);
});

test('the bug report form requests the version, and status and check as JSON', () => {
  const form: { readonly body: readonly { readonly attributes: { readonly label?: string } }[] } = parse(
    files.get('.github/ISSUE_TEMPLATE/bug.yml') ?? '',
  );
  const asked = form.body.map(({ attributes }) => attributes.label ?? '').join('\n');
  for (const word of ['version', 'status --json', 'check --json']) expect(asked).toContain(word);
});

test('CONTRIBUTING and SECURITY are in the folder that GitHub reads', () => {
  expect(readFileSync(join(root, '.github/CONTRIBUTING.md'), 'utf8')).toMatch(/^# Contributing\n/);
  expect(readFileSync(join(root, '.github/SECURITY.md'), 'utf8')).toMatch(/^# Security policy\n/);
});
