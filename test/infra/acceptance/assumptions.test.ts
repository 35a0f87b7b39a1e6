import { spawnSync } from 'node:child_process';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import {
  type Assumption,
  assumptionsFile,
  places,
  readAssumptions,
  untriedPage,
} from '../../../infra/acceptance/assumptions.ts';
import { filledIn } from '../../azure-cli/shell.ts';
import { createPowerShellReader, type PowerShellReader } from '../../support/powershell.ts';
import { readTree, root } from '../../support/source-tree.ts';

const assumptions = readAssumptions();
const page = 'infra/untried.md';

let powerShell: PowerShellReader;
beforeAll(async () => {
  powerShell = await createPowerShellReader();
});

const isText = (value: unknown): boolean => typeof value === 'string' && value.trim() !== '';

/** What is wrong with the form of an assumption, each a phrase. */
function faultsOf(one: Assumption): readonly string[] {
  const fields = [
    'id',
    'on',
    'claim',
    'where',
    'verify',
    'commands',
    'otherwise',
    'source',
    'breaks',
    'provedBy',
    'unseen',
    'manual',
  ];
  return [
    ...Object.keys(one)
      .filter((field) => !fields.includes(field))
      .map((field) => `${field} is not known`),
    ...(['id', 'claim', 'verify', 'breaks', 'otherwise'] as const)
      .filter((field) => !isText(one[field]))
      .map((field) => `${field} is missing`),
    ...(/^[a-z][a-z0-9]*(-[a-z0-9]+)+$/.test(one.id) ? [] : ['id is not of words and hyphens']),
    ...(Object.hasOwn(places, one.on) ? [] : [`on is ${one.on}`]),
    ...(Array.isArray(one.where) && one.where.length > 0 ? one.where : ['nothing'])
      .filter((path) => globSync(path, { cwd: root }).length === 0)
      .map((path) => `${path} does not exist`),
    ...(one.commands === undefined
      ? ['windows', 'linux'].includes(one.on)
        ? ['commands are missing']
        : []
      : faultsOfCommands(one)),
    ...(one.source ?? ['nothing'])
      .filter((text) => !isSource(text))
      .map((text) => `source ${text} is neither a link nor our inference`),
    ...(one.unseen === undefined || (isText(one.unseen) && one.provedBy !== undefined)
      ? []
      : ['unseen is no part of what a step proves']),
    ...(isText(one.manual) === (one.provedBy?.length ?? 0) > 0 ? ['provedBy or manual, one of them, is needed'] : []),
  ];
}

const isSource = (text: string): boolean =>
  text === 'our inference' || /^(observed by others: )?https:\/\/[a-z0-9.-]+\/\S*$/.test(text);

function faultsOfCommands({ on, commands = '' }: Assumption): readonly string[] {
  const text = filledIn(commands);
  if (!isText(text)) return ['commands are empty'];
  if (on === 'windows') return powerShell.faultsIn(text);
  const { stderr } = spawnSync('bash', ['--norc', '-n'], { input: text, encoding: 'utf8' });
  return stderr.trim() === '' ? [] : [stderr.trim()];
}

test('every assumption is complete, names files that exist, and has commands that its shell can read', () => {
  expect(assumptions.length).toBeGreaterThan(150);
  expect(assumptions.flatMap((one) => faultsOf(one).map((fault) => `${one.id}: ${fault}`))).toEqual([]);
});

test('ids are unique and sorted', () => {
  const ids = assumptions.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].sort());
});

test.for<readonly [change: Partial<Assumption>, fault: RegExp]>([
  [{ claim: ' ' }, /^claim is missing$/],
  [{ id: 'Windows' }, /^id is not/],
  [{ on: 'mac' as 'linux' }, /^on is mac$/],
  [{ where: [] }, /^nothing does not exist$/],
  [{ where: ['infra/nowhere.ts'] }, /^infra\/nowhere.ts does not exist$/],
  [{ on: 'linux' }, /^commands are missing$/],
  [{ on: 'linux', commands: 'if true; then' }, /unexpected end of file/],
  [{ on: 'windows', commands: 'Get-Service -Name "bridge' }, /PowerShell cannot read/],
  [{ breaks: '' }, /^breaks is missing$/],
  [{ source: ['Microsoft says so'] }, /^source Microsoft says so is neither/],
  [{ provedBy: ['platform'], manual: 'a person' }, /^provedBy or manual/],
  [{ provedBy: [], manual: ' ' }, /^provedBy or manual/],
  [{ unseen: 'a freeze' }, /^unseen is no part/],
  [{ note: 'x' } as Partial<Assumption>, /^note is not known$/],
])('an assumption with %j is refused', ([change, fault]) => {
  const [first] = assumptions;
  if (!first) throw new Error(`${assumptionsFile} is empty`);
  expect(faultsOf({ ...first, ...change })).toEqual([expect.stringMatching(fault)]);
});

/** `UPDATE=1 npm run test:unit -- test/infra/acceptance` writes the page again. */
test('the page of what was not tried yet is the one of the assumptions', () => {
  if (process.env.UPDATE) writeFileSync(join(root, page), untriedPage(assumptions));
  expect(readTree(page).get(page)).toBe(untriedPage(assumptions));
});
