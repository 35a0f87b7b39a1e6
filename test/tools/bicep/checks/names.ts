import { type Check, type Finding, finding } from '../finding.ts';
import { functions } from '../functions.ts';
import { infer, isBuiltIn } from '../infer.ts';
import { objectOf } from '../resource-shape.ts';
import type { Scope } from '../scope.ts';
import { hint, mayBeNull, membersOf, type Shape, withoutNull } from '../shape.ts';
import type { BicepFile, Expression } from '../syntax.ts';
import { walkFile } from '../walk.ts';

type Of<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

/** Every name, function and property that is used exists, and no two things have one name. */
export const names: Check = ({ file, scope }) => {
  const found: Finding[] = [];
  walkFile(file, scope, (expression, inner) => {
    if (expression.kind === 'name') found.push(...missingName(expression, inner));
    if (expression.kind === 'call') found.push(...wrongCall(expression, inner));
    if (expression.kind === 'member') found.push(...missingMember(expression, inner));
  });
  return [...found, ...twice(file)];
};

/** Outputs and metadata have names of their own. */
function twice({ statements }: BicepFile): Finding[] {
  const declared = statements.flatMap((statement) => {
    if (!('name' in statement)) return [];
    const apart = statement.kind === 'output' || statement.kind === 'metadata' ? statement.kind : '';
    return [{ ...statement, key: `${apart} ${statement.name}` }];
  });
  return declared
    .filter(({ key }, n) => declared.findIndex((other) => other.key === key) < n)
    .map(({ name, line }) => finding(line, 'BCP028', `${name} occurs twice`));
}

function missingName({ name, line }: Of<'name'>, scope: Scope): Finding[] {
  if (scope.value(name) !== null) return [];
  return [finding(line, 'BCP057', `there is nothing called ${name}${hint(name, scope.names())}`)];
}

function wrongCall(call: Of<'call'>, scope: Scope): Finding[] {
  const { name, given, line, on } = call;
  const own = on === null ? scope.func(name) : null;
  const takes = isBuiltIn(call)
    ? functions[name]?.takes
    : own === null
      ? undefined
      : ([own.takes.length, own.takes.length] as const);
  if (takes === undefined) {
    if (on !== null) return [];
    const known = [...Object.keys(functions), ...scope.names()];
    return [finding(line, 'BCP057', `there is no function ${name}${hint(name, known)}`)];
  }
  const [least, most] = takes;
  if (given.length >= least && given.length <= most) return [];
  const wanted = least === most ? `${least}` : `${least} to ${most}`;
  return [finding(line, 'BCP071', `${name}() takes ${wanted} values, not ${given.length}`)];
}

function missingMember({ of, name, line, by }: Of<'member'>, scope: Scope): Finding[] {
  if (by === '::') return missingNested(of, name, line, scope);
  const shape = infer(of, scope);
  const reason = lacks(withoutNull(shape), name);
  if (reason !== null) return [finding(line, 'BCP053', reason)];
  if (by === '.?') return [];
  if (mayBeNull(shape)) return [finding(line, 'BCP318', `${name} is read of something that may be null: use .? or !`)];
  if (knownBefore.includes(name) || !isConditional(of, scope)) return [];
  return [finding(line, 'BCP318', `${name} is read of something that may not be deployed: use .? or !`)];
}

/** What is known of a resource whether or not it is deployed. */
const knownBefore: readonly string[] = ['id', 'name', 'type', 'apiVersion'];

function isConditional(of: Expression, scope: Scope): boolean {
  const statement = of.kind === 'name' ? scope.declaration(of.name) : null;
  return (statement?.kind === 'resource' || statement?.kind === 'module') && statement.body.kind === 'condition';
}

/** Why a shape can have no such property; null when it can. */
export function lacks(shape: Shape, name: string): string | null {
  const answers = membersOf(shape).map((member) => {
    if (member.kind === 'any') return null;
    if (member.kind === 'tagged') {
      const cases = [...member.cases.values()].map((one) => lacks(one, name));
      return cases.includes(null) ? null : (cases[0] ?? null);
    }
    if (member.kind === 'array') return `${name} is read of an array`;
    if (member.kind !== 'object') return `${name} is read of a ${member.kind}`;
    if (member.rest !== null || member.properties.has(name)) return null;
    return `there is no property ${name} in ${member.name}${hint(name, member.properties.keys())}`;
  });
  return answers.includes(null) ? null : (answers[0] ?? null);
}

function missingNested(of: Expression, name: string, line: number, scope: Scope): Finding[] {
  const statement = of.kind === 'name' ? scope.declaration(of.name) : null;
  if (statement?.kind !== 'resource') return [];
  if (objectOf(statement.body)?.nested.some((nested) => nested.name === name)) return [];
  return [finding(line, 'BCP159', `no resource ${name} is nested in ${statement.name}`)];
}
