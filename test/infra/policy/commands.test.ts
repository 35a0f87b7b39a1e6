import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { evaluateFile } from '../../tools/bicep/evaluate.ts';
import { textOf } from '../../tools/bicep/files.ts';
import { createProject } from '../../tools/bicep/project.ts';
import { kinds } from '../../tools/policy/definition.ts';

const project = createProject(textOf, null);
const platforms = [{ name: 'europe', rings: [], versions: [], regions: [], targets: ['linux-x64'], settings: {} }];
const fleet = evaluateFile(project, 'infra/fleet.bicep', { platforms, userInitiatedEvents: 'platformApproves' });

const place = mkdtempSync(join(tmpdir(), 'fleet-commands-'));
afterAll(() => rmSync(place, { recursive: true }));

/** Answers as `az graph query … --query "[[skip_token || ''], data[].resourceId][]" --output tsv` does: 1,000 rows a page. */
writeFileSync(
  join(place, 'az'),
  `#!/bin/sh
echo "$@" >> ${place}/calls
[ "$1" = extension ] && exit
from=0
while [ $# -gt 0 ]; do [ "$1" = --skip-token ] && from=$2; shift; done
to=$((from + 1000)); [ $to -ge "$ROWS" ] && to=$ROWS && echo || echo $to
[ $from -lt $to ] && seq -f '/subscriptions/s/%.0f' $((from + 1)) $to || true
`,
);
chmodSync(join(place, 'az'), 0o755);

function run(command: string, rows: number): { readonly lines: readonly string[]; readonly calls: readonly string[] } {
  writeFileSync(join(place, 'calls'), '');
  const env = { ...process.env, PATH: `${place}${delimiter}${process.env.PATH}`, ROWS: String(rows) };
  const { stdout, status, stderr } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const calls = readFileSync(join(place, 'calls'), 'utf8');
  return { lines: stdout.split('\n').filter(Boolean), calls: calls.split('\n').filter(Boolean) };
}

const listUncovered = String(fleet.output('listUncovered'));
const runnable = listUncovered.replace('«managementGroup().name»', 'fleet');

test.each([
  { rows: 0, pages: 1 },
  { rows: 3, pages: 1 },
  { rows: 1000, pages: 1 },
  { rows: 2500, pages: 3 },
])('the command of listUncovered prints all $rows ids, of $pages pages', ({ rows, pages }) => {
  const { lines, calls } = run(runnable, rows);
  expect(lines).toEqual(Array.from({ length: rows }, (_, n) => `/subscriptions/s/${n + 1}`));
  expect(calls).toEqual([
    'extension add --name resource-graph --upgrade --only-show-errors',
    ...Array.from({ length: pages }, () => expect.stringMatching(/^graph query /)),
  ]);
});

test.each([
  { output: 'listUncovered', list: 'uncovered', command: listUncovered },
  {
    output: 'setUserInitiatedEvents',
    list: 'user-events',
    command: (fleet.output('setUserInitiatedEvents') as string[])[0] ?? '',
  },
])('the command of $output requires the lists of the initiatives', ({ list, command }) => {
  const assignment = textOf('bicep/modules/policy-assignment.bicep') ?? '';
  expect(assignment).toContain(`policyDefinitionReferenceId: '${list}-\${kind}-\${shortNameOf(application.target)}'`);
  const asked = /in~ \((.*?)\)/.exec(command)?.[1]?.split(', ');
  expect(asked).toEqual(
    kinds.flatMap((kind) => ['x64', 'arm64', 'win-x64'].map((target) => `'${list}-${kind}-${target}'`)),
  );
});
