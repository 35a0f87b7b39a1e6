import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTree, root } from '../support/source-tree.ts';
import { azureShapes, describedIn } from '../tools/bicep/azure-shapes.ts';
import { check } from '../tools/bicep/check.ts';
import { bicepFiles, textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';
import { sample, samplePaths } from '../tools/bicep/sample.ts';
import { createSecondReader } from '../tools/bicep/second-reader.ts';

const azure = azureShapes();
const paths = bicepFiles();
const reader = await createSecondReader();

test('every file of Bicep is right by the resources that are known here', () => {
  expect(paths.length).toBeGreaterThan(20);
  expect(check(createProject(textOf, null), reader, paths)).toEqual([]);
});

test("every file of Bicep is right by Azure's own descriptions", ({ skip }) => {
  skip(azure === null, `Azure's own descriptions are not at ${describedIn}`);
  expect(check(createProject(textOf, azure), reader, paths)).toEqual([]);
});

test.for([
  { by: 'the resources that are known here', shapes: null },
  ...(azure === null ? [] : [{ by: "Azure's own descriptions", shapes: azure }]),
])('nothing is found in a platform without a fault, by $by', ({ shapes }) => {
  expect(
    check(
      createProject((path) => sample[path] ?? null, shapes),
      reader,
      samplePaths,
    ),
  ).toEqual([]);
});

test('a value that could reveal a secret stops a build', () => {
  const { rules } = JSON.parse(textOf('bicepconfig.json') ?? '').analyzers.core;
  const errors = Object.keys(rules).filter((name) => rules[name].level === 'error');
  expect(errors).toEqual(
    expect.arrayContaining([
      'no-hardcoded-env-urls',
      'outputs-should-not-contain-secrets',
      'protect-commandtoexecute-secrets',
      'secure-parameter-default',
      'secure-params-in-nested-deploy',
      'secure-secrets-in-params',
      'use-secure-value-for-secure-inputs',
    ]),
  );
});

test('nothing that only a compiler can make is kept in the repository', () => {
  const made = readTree('*.json', 'bicep/**/*.json', 'infra/**/*.json');
  expect([...made].filter(([, text]) => /deploymentTemplate\.json#"/.test(text) && /"_generator"/.test(text))).toEqual(
    [],
  );
  const pages = readTree('*.md', 'bicep/**/*.md', 'infra/**/*.md');
  expect([...pages].filter(([, text]) => /portal\.azure\.com\/#create\/Microsoft\.Template/.test(text))).toEqual([]);
});

const compiler = spawnSync('bicep', ['--version'], { encoding: 'utf8' });

if (compiler.status !== 0) console.warn("  skipped: what Microsoft's compiler says (there is no bicep on the PATH)");
if (azure === null) console.warn(`  skipped: what Azure's own descriptions say (they are not at ${describedIn})`);

test.for(paths)("Microsoft's compiler builds %s, and its linter reports nothing", (path, { skip }) => {
  skip(compiler.status !== 0, 'there is no bicep on the PATH');
  const out = mkdtempSync(join(tmpdir(), 'bicep-'));
  try {
    const build = path.endsWith('.bicepparam') ? 'build-params' : 'build';
    execFileSync('bicep', [build, path, '--outfile', join(out, 'built.json')], { cwd: root, stdio: 'pipe' });
    const lint = spawnSync('bicep', ['lint', path], { cwd: root, encoding: 'utf8' });
    expect(`${lint.stdout}${lint.stderr}`.trim()).toBe('');
  } finally {
    rmSync(out, { recursive: true });
  }
});
