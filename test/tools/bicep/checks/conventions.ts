import { type Check, type Finding, finding } from '../finding.ts';
import { hint } from '../shape.ts';
import {
  type Decorator,
  declared,
  decorated,
  type Parameter,
  plainText,
  type Statement,
  type TypeSyntax,
  typesIn,
} from '../syntax.ts';

/** https://learn.microsoft.com/azure/azure-resource-manager/bicep/parameters#use-decorators and its kind */
const decorators: readonly string[] = [
  ...[
    'allowed',
    'batchSize',
    'description',
    'discriminator',
    'export',
    'maxLength',
    'maxValue',
    'metadata',
    'minLength',
  ],
  ...['minValue', 'onlyIfNotExists', 'sealed', 'secure'],
];

/** Descriptions that say what, and whether it must be given; names as Bicep spells them; decorators that there are. */
export const conventions: Check = ({ file }) => {
  if (file.path.endsWith('.bicepparam')) return [];
  return [
    ...head(file.statements),
    ...declared(file, 'param').flatMap((parameter) => described(parameter, isRequired(parameter))),
    ...[...declared(file, 'output'), ...declared(file, 'func')].flatMap((own) => described(own, null)),
    ...declared(file, 'type').flatMap((own) => [
      ...described(own, null),
      ...(own.name.endsWith('Type')
        ? []
        : [finding(own.line, 'naming', `${own.name}: the name of a type ends in Type`)]),
      ...members(own.type),
    ]),
    ...file.statements.flatMap((statement) => {
      if (!('name' in statement)) return [];
      const isCamel = /^[a-z][a-zA-Z0-9]*$/.test(statement.name);
      const naming = isCamel ? [] : [finding(statement.line, 'naming', `${statement.name}: names are in camelCase`)];
      return [...naming, ...known(statement.decorators)];
    }),
  ];
};

function head(statements: readonly Statement[]): Finding[] {
  const top = statements.filter(({ kind }) => kind !== 'targetScope');
  return ['name', 'description'].flatMap((wanted, n) => {
    const there = top[n];
    if (there?.kind === 'metadata' && there.name === wanted && plainText(there.value)) return [];
    return [finding(there?.line ?? 1, 'metadata', `metadata ${wanted} stands on top of the file`)];
  });
}

const known = (used: readonly Decorator[]): Finding[] =>
  used
    .filter(({ name }) => !decorators.includes(name))
    .map(({ name, line }) => finding(line, 'BCP057', `there is no decorator ${name}${hint(name, decorators)}`));

const isRequired = ({ value, type }: Parameter): boolean => value === null && type.kind !== 'nullable';

function members(type: TypeSyntax): Finding[] {
  if (type.kind !== 'object') return typesIn(type).flatMap(members);
  return type.members.flatMap((member) => [
    ...described(member, member.type.kind !== 'nullable'),
    ...known(member.decorators),
    ...members(member.type),
  ]);
}

/** @param required whether it must be given; null when it is never given */
function described(
  { name, line, decorators: used }: { name: string; line: number; decorators: readonly Decorator[] },
  required: boolean | null,
): Finding[] {
  const text = decorated(used, 'description');
  const wrong = (what: string): Finding[] => [finding(line, 'use-description', `${name}: ${what}`)];
  if (typeof text !== 'string' || text.trim() === '') return wrong('@description is missing');
  if (!text.endsWith('.')) return wrong('its description ends with a dot');
  const word = /^(Required|Optional|Conditional)\. \S/.exec(text)?.[1];
  if (required === null) return word === undefined ? [] : wrong('never given: its description says only what it is');
  if (word === undefined) return wrong("its description begins with 'Required. ', 'Optional. ' or 'Conditional. '");
  if (required === (word === 'Required')) return [];
  return wrong(required ? 'it has no default: it is required' : 'it may be left out: it is not required');
}
