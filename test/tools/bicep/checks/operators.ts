import { type Check, type Finding, finding } from '../finding.ts';
import { infer } from '../infer.ts';
import type { Scope } from '../scope.ts';
import { describeShape, membersOf, type Shape, withoutNull } from '../shape.ts';
import type { Expression } from '../syntax.ts';
import { walkFile } from '../walk.ts';

type Kind = 'int' | 'string' | 'bool';

/** What each operator takes, any one kind for all of its operands; `==`, `!=` and `??` take everything. */
const takes: Readonly<Record<string, readonly Kind[]>> = {
  ...Object.fromEntries(['+', '-', '*', '/', '%'].map((operator) => [operator, ['int'] as const])),
  ...Object.fromEntries(['<', '<=', '>', '>='].map((operator) => [operator, ['int', 'string'] as const])),
  ...Object.fromEntries(['=~', '!~'].map((operator) => [operator, ['string'] as const])),
  ...Object.fromEntries(['&&', '||', '!'].map((operator) => [operator, ['bool'] as const])),
};

/** Operators and conditions are given what they take: https://learn.microsoft.com/azure/azure-resource-manager/bicep/operators */
export const operators: Check = ({ file, scope }) => {
  const found: Finding[] = [];
  walkFile(file, scope, (expression, inner) => {
    if (expression.kind === 'operation') found.push(...operation(expression, inner));
    if (expression.kind === 'choice' || expression.kind === 'condition')
      found.push(...condition(expression.when, inner));
  });
  return found;
};

function operation({ operator, operands, line }: Extract<Expression, { kind: 'operation' }>, scope: Scope): Finding[] {
  const kinds = takes[operator];
  if (kinds === undefined) return [];
  const shapes = operands.map((operand) => withoutNull(infer(operand, scope)));
  if (kinds.some((kind) => shapes.every((shape) => isAll(shape, kind)))) return [];
  const code = operands.length === 1 ? 'BCP044' : 'BCP045';
  return [finding(line, code, `${operator} cannot be applied to ${shapes.map(describeShape).join(' and ')}`)];
}

function condition(when: Expression, scope: Scope): Finding[] {
  const shape = withoutNull(infer(when, scope));
  return isAll(shape, 'bool')
    ? []
    : [finding(when.line, 'BCP046', `a condition is a bool, this is ${describeShape(shape)}`)];
}

const isAll = (shape: Shape, kind: Kind): boolean =>
  membersOf(shape).every((member) => member.kind === 'any' || kindOf(member) === kind);

function kindOf(shape: Shape): string {
  if (shape.kind !== 'literal') return shape.kind;
  return { string: 'string', number: 'int', boolean: 'bool' }[typeof shape.value as 'string' | 'number' | 'boolean'];
}
