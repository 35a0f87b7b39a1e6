import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config/read-config.ts';
import { readTree, root } from '../support/source-tree.ts';

const files = readTree('.github/**/*.yml');

test.for([...files])('%s is YAML', ([, text]) => {
  expect(parse(text)).toBeTypeOf('object');
});

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
}

interface Workflow {
  readonly permissions: unknown;
  readonly jobs: Record<string, { readonly needs?: string; readonly steps: readonly Step[] }>;
}

test('the workflow runs .ci/run with read access only, and only actions of GitHub itself', () => {
  const workflow: Workflow = parse(files.get('.github/workflows/ci.yml') ?? '');
  expect(workflow.permissions).toEqual({ contents: 'read' });
  const steps = Object.values(workflow.jobs).flatMap((job) => job.steps);
  expect(workflow.jobs.ci?.steps.flatMap(({ run }) => run ?? [])).toEqual(['.ci/run']);
  for (const { uses } of steps) if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
});

test('what is installed on Windows in the workflow is the package that the same run has made', () => {
  const { jobs }: Workflow = parse(files.get('.github/workflows/ci.yml') ?? '');
  const [made, used] = [jobs['windows-package'], jobs.windows].map((job) =>
    (job?.steps ?? []).find(({ uses }) => uses?.includes('load-artifact')),
  );
  expect(jobs.windows?.needs).toBe('windows-package');
  expect(used?.with?.name).toBe(made?.with?.name);
  const commands = (jobs.windows?.steps ?? []).map(({ run }) => run ?? '').join('\n');
  for (const script of ['install.cmd', 'update.cmd', 'remove.cmd']) expect(commands).toContain(script);
  const [, configuration = ''] = /-Value '(.*)'/.exec(commands) ?? [];
  const source = { value: JSON.parse(configuration), source: 'ci.yml', keepsSecrets: true };
  expect(readConfig({ documents: [source], env: {}, defaultStateDirectory: '/x' }).problems).toBeUndefined();
  const tested = /vitest run --project unit (.*)/.exec(commands)?.[1]?.split(' ') ?? [];
  expect(tested.filter((path) => !existsSync(join(root, path)))).toEqual([]);
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
