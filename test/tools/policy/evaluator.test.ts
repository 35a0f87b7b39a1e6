import { describe, expect, test } from 'vitest';
import { holds } from './condition.ts';
import { outcome, readDefinition } from './definition.ts';
import { evaluate, type Json } from './expression.ts';
import { inTemplates } from './functions.ts';
import { application, virtualMachine } from './subjects.ts';
import { written } from './template.ts';

const applications = 'Microsoft.Compute/virtualMachines/applicationProfile.galleryApplications[*]';
const subject = virtualMachine({
  tags: { team: 'Web' },
  applications: [application('a', '1.0.0'), application('b', '2.0.0')],
});
const parameters = { names: ['web', 'db'], pattern: 'w*' };

const decided: readonly { readonly condition: Json; readonly is: boolean }[] = [
  { condition: { field: 'tags[TEAM]', equals: 'web' }, is: true },
  { condition: { field: 'tags[owner]', equals: '' }, is: false },
  { condition: { field: 'tags[owner]', notEquals: 'web' }, is: true },
  { condition: { field: 'tags[owner]', exists: false }, is: true },
  { condition: { field: 'tags[team]', exists: 'false' }, is: false },
  { condition: { field: 'tags[team]', in: "[parameters('names')]" }, is: true },
  { condition: { field: 'tags[owner]', notIn: "[parameters('names')]" }, is: true },
  { condition: { field: 'tags[team]', like: "[parameters('pattern')]" }, is: true },
  { condition: { field: 'tags[team]', like: 'we' }, is: false },
  { condition: { field: 'tags[owner]', notLike: '*' }, is: true },
  { condition: { not: { field: 'name', contains: 'EB-' } }, is: false },
  {
    condition: { value: "[if(empty(field('identity.type')), 0, length(field('identity.type')))]", equals: 0 },
    is: true,
  },
  {
    condition: {
      count: { field: applications, where: { field: `${applications}.packageReferenceId`, like: '*/1.0.0' } },
      equals: 1,
    },
    is: true,
  },
  {
    condition: {
      count: { value: "[parameters('names')]", name: 'n', where: { value: "[current('n')]", like: '*b' } },
      less: 2,
    },
    is: false,
  },
  { condition: { value: "[split('a:b', ':')[1]]", equals: 'B' }, is: true },
  { condition: { anyOf: [{ field: 'name', equals: 'x' }, { allOf: [] }] }, is: true },
];
test.each(decided)('the condition $condition is $is', ({ condition, is }) => {
  expect(holds(condition, subject, parameters)).toBe(is);
});

const refused: readonly { readonly condition: Json; readonly because: string }[] = [
  { condition: { field: 'name', matches: 'web' }, because: 'matches is not known' },
  { condition: { field: 'kind', equals: 'x' }, because: 'kind is not known' },
  {
    condition: { field: 'Microsoft.Compute/virtualMachines/priority', equals: 'Spot' },
    because: 'is not known: not a field',
  },
  { condition: { field: 'name', equals: 'a', like: 'b' }, because: 'wants one subject and one test' },
  { condition: { field: 'name', value: 'a', equals: 'b' }, because: 'wants one subject and one test' },
  { condition: { field: 'name' }, because: 'wants one subject and one test' },
  { condition: { field: 'name', like: '*a*' }, because: 'one * at most' },
  { condition: { allOf: [], field: 'name' }, because: 'one of them only' },
  { condition: { field: `${applications}.packageReferenceId`, equals: 'x' }, because: 'only inside a count' },
  { condition: { count: { field: 'name', where: { allOf: [] } }, equals: 0 }, because: 'a count is over a list' },
  { condition: { value: "[parameters('absent')]", equals: 1 }, because: "parameters('absent') is not known here" },
  { condition: { value: "[reference('x')]", equals: 1 }, because: 'reference() is not known here' },
  { condition: { value: "[toLower('X')]", equals: 'x' }, because: 'toLower() is not known here' },
  { condition: { value: "[length(field('identity.type'))]", equals: 0 }, because: 'null has no length' },
  { condition: { value: "[concat('a', 'b']", equals: 'ab' }, because: 'cannot be read' },
  { condition: { value: "[split('a:b', ':')[7]]", equals: 'B' }, because: 'there is no 7' },
];
test.each(refused)('the condition $condition is refused', ({ condition, because }) => {
  expect(() => holds(condition, subject, parameters)).toThrow(because);
});

describe('expressions of templates', () => {
  const others = "[filter(parameters('apps'), lambda('each', not(startsWith(lambdaVariables('each'), 'a'))))]";
  const functions = { ...inTemplates, parameters: () => ['ab', 'b', 'a'] };

  test('filter keeps what its lambda holds for', () => {
    expect(evaluate(others, functions)).toEqual(['b']);
  });

  test('a lambda knows no other variable', () => {
    expect(() => evaluate(others.replace("lambdaVariables('each')", "lambdaVariables('app')"), functions)).toThrow(
      "lambdaVariables('app') is not known here",
    );
  });

  test('a template is refused that is given another parameter than it has', () => {
    expect(() => written({ parameters: { id: {} }, resources: [] }, { name: 'x' }, {})).toThrow(
      'the template has the parameters id, and is given name',
    );
  });
});

test('a definition without a value for one of its parameters is refused', () => {
  const definition = readDefinition('inject', 'virtual-machine');
  expect(() => outcome(definition, subject, { osType: 'Linux' })).toThrow('no value for its parameter');
});
