import { type Check, type Finding, finding } from '../finding.ts';
import { declared, type Expression, type TypeSyntax, typesIn } from '../syntax.ts';
import { walkFile } from '../walk.ts';

/** Functions that are not used here, each with why. */
const functions: Readonly<Record<string, string>> = {
  any: 'any() hides what is wrong: give the value its type',
  newGuid: 'newGuid() is another one at every deployment: guid() of what is stable',
  utcNow: 'utcNow() is another one at every deployment',
  resourceId: 'resourceId() hides what depends on what: name the resource, as existing where it must be',
  reference: 'reference() hides what depends on what: name the resource, as existing where it must be',
};

/** What compiles, and is not written here: what hides types, differs at each deployment, or reads a key. */
export const forbidden: Check = ({ file, scope }) => {
  const found: Finding[] = [];
  walkFile(file, scope, (expression) => {
    if (expression.kind === 'call') found.push(...call(expression));
    if (expression.kind === 'text') found.push(...text(expression));
  });
  return [
    ...found,
    ...[...declared(file, 'param'), ...declared(file, 'type')].flatMap(({ type, name }) => loose(type, name)),
  ];
};

function call({ name, on, line }: Extract<Expression, { kind: 'call' }>): Finding[] {
  const isOfBicep = on === null || (on.kind === 'name' && ['az', 'sys'].includes(on.name));
  const reason = isOfBicep ? functions[name] : undefined;
  if (reason !== undefined) return [finding(line, 'forbidden', reason)];
  if (!/^list[A-Z]|^getSecret$/.test(name)) return [];
  return [finding(line, 'no-keys', `${name}() reads a key or secret: identities and roles are used here`)];
}

function text({ parts, line }: Extract<Expression, { kind: 'text' }>): Finding[] {
  const isKey = parts.some((part) => typeof part === 'string' && /[?&]sig=|SharedAccess(Key|Signature)/i.test(part));
  return isKey
    ? [finding(line, 'no-keys', 'a key or shared access signature: identities and roles are used here')]
    : [];
}

/** `object` and `any` say nothing. */
function loose(type: TypeSyntax, name: string): Finding[] {
  if (type.kind !== 'name') return typesIn(type).flatMap((inner) => loose(inner, name));
  if (!['object', 'any'].includes(type.name)) return [];
  return [finding(type.line, 'use-user-defined-types', `${name}: ${type.name} says nothing: use a type of its own`)];
}
