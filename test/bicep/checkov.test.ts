import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/source-tree.ts';
import { deployedBy } from '../tools/bicep/deployed.ts';
import { bicepFiles, textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';

/** https://www.checkov.io; `test/scanners/prepare` fetches it. */
const checkov = join(root, 'node_modules/.cache/scanners/bin/checkov');
const there = spawnSync(checkov, ['--version'], { encoding: 'utf8' });
const missing = there.error?.message ?? (there.status === 0 ? null : `exit code ${there.status}`);
if (missing !== null) {
  console.warn(`  skipped: what checkov says of the files of Bicep (${missing}); test/scanners/prepare fetches it`);
}

const paths = bicepFiles();
const written = paths.filter((path) => path.endsWith('.bicep'));
const parameterFiles = paths.filter((path) => path.endsWith('.bicepparam'));

/** A file that checkov can read, with a fault that it knows. */
const planted = `resource account 'Microsoft.Storage/storageAccounts@2025-06-01' = {
  name: 'stplanted'
  location: 'westeurope'
  kind: 'StorageV2'
  sku: {
    name: 'Standard_LRS'
  }
  properties: {
    supportsHttpsTrafficOnly: false
  }
}
`;

/** What a parameter file comes to, as a template of Azure Resource Manager: those checkov reads whole. */
function template(parameterFile: string): string {
  const resources = deployedBy(createProject(textOf, null), parameterFile).map(({ type, version, body }) => {
    const own = Object.entries(body).filter(([key]) => !['parent', 'scope', 'dependsOn'].includes(key));
    return { type, apiVersion: version, ...Object.fromEntries(own) };
  });
  const $schema = 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#';
  return JSON.stringify({ $schema, contentVersion: '1.0.0.0', resources });
}

interface Judgement {
  readonly check_id: string;
  readonly check_name: string;
  readonly file_path: string;
  readonly resource: string;
}
interface Report {
  readonly check_type: string;
  readonly results: {
    readonly passed_checks: readonly Judgement[];
    readonly failed_checks: readonly Judgement[];
    readonly parsing_errors: readonly string[];
  };
  readonly summary: { readonly resource_count: number };
}

/** Runs it once over everything: it takes seconds to start. `place`: an empty folder. */
function scan(place: string): Report[] {
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  };
  for (const path of written) write(join('written', path), textOf(path) ?? '');
  for (const path of parameterFiles) write(join('deployed', `${basename(path)}.json`), template(path));
  write('planted/storage.bicep', planted);
  const options = ['--framework', 'bicep', 'arm', '--directory', '.', '--output', 'json', '--skip-download'];
  const { stdout } = spawnSync(checkov, options, { cwd: place, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return [JSON.parse(stdout) as Report | Report[]].flat();
}

const quickStarts = /virtualMachines\.vm-(scheduled-events|events-win)$/;

/** What checkov holds against us and we do not change. Each is used, or it goes. */
const exceptions: readonly { readonly check: string; readonly resource: RegExp; readonly because: string }[] = [
  {
    check: 'CKV_AZURE_50',
    resource: quickStarts,
    because: 'the quick start is there to put one extension on one VM',
  },
  ...['CKV_AZURE_97', 'CKV_AZURE_151'].map((check) => ({
    check,
    resource: quickStarts,
    because:
      'encryption at host is refused in subscriptions that have not registered for it; a quick start runs in any',
  })),
  {
    check: 'CKV_AZURE_178',
    resource: /virtualMachines\.vm-events-win$/,
    because:
      'a VM with Windows has no keys for SSH; its configuration for Linux is null, which the check takes for one',
  },
  ...[1, 49, 50, 95, 97, 149, 151, 178].map((n) => ({
    check: `CKV_AZURE_${n}`,
    resource: /\.\[parameters\('name'\)\]$/,
    because: 'a policy changes one property of a VM that is there: what its template does not name stays as it is',
  })),
];

describe.skipIf(missing !== null)('checkov', () => {
  let reports: readonly Report[] = [];
  const of = (type: string, folder: string) => {
    const results = reports.find((report) => report.check_type === type)?.results;
    const inFolder = (all: readonly Judgement[] = []) => all.filter((one) => one.file_path.startsWith(`/${folder}/`));
    return {
      unread: (results?.parsing_errors ?? []).filter((path) => path.includes(`/${folder}/`)),
      passed: inFolder(results?.passed_checks),
      failed: inFolder(results?.failed_checks),
    };
  };
  let place = '';
  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), 'checkov-'));
    reports = scan(place);
  }, 180_000);
  afterAll(() => rmSync(place, { recursive: true }));

  test('a planted fault is seen, so silence means something', () => {
    expect(of('bicep', 'planted').failed.map((one) => one.check_id)).toContain('CKV_AZURE_3');
  });

  test('nothing is held against the files of Bicep that it can read, and those that it cannot are named', () => {
    const { unread, passed, failed } = of('bicep', 'written');
    const notRead = unread.map((path) => path.slice(path.indexOf('/written/') + '/written/'.length)).sort();
    const read = written.filter((path) => !notRead.includes(path));
    console.info(`  checkov read ${read.length} of ${written.length} files of Bicep (${passed.length} checks passed)`);
    console.info(`  checkov could not parse, so says nothing of: ${notRead.join(' ')}`);
    expect(notRead.filter((path) => !written.includes(path))).toEqual([]);
    expect(failed.map((one) => `${one.file_path} ${one.resource}: ${one.check_id} ${one.check_name}`)).toEqual([]);
  });

  test('Checkov reports nothing except the listed exceptions, each of which is needed', () => {
    const { unread, passed, failed } = of('arm', 'deployed');
    const excepts = (one: Judgement) =>
      exceptions.filter(({ check, resource }) => check === one.check_id && resource.test(one.resource));
    expect(unread).toEqual([]);
    expect(new Set(passed.map((one) => basename(one.file_path)))).toEqual(
      new Set(parameterFiles.map((path) => `${basename(path)}.json`)),
    );
    expect(
      failed
        .filter((one) => excepts(one).length === 0)
        .map((one) => `${one.resource}: ${one.check_id} ${one.check_name}`),
    ).toEqual([]);
    expect(exceptions.filter((exception) => !failed.some((one) => excepts(one).includes(exception)))).toEqual([]);
  });
});
