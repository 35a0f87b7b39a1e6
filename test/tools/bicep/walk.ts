import { localsOfLambda, localsOfLoop } from './infer.ts';
import type { Scope } from './scope.ts';
import { any } from './shape.ts';
import type { BicepFile, Expression, Statement } from './syntax.ts';

/** Shows an expression and everything in it, each with the names that it may use. */
export function walk(
  expression: Expression,
  scope: Scope,
  visit: (expression: Expression, scope: Scope) => void,
): void {
  visit(expression, scope);
  const into = (child: Expression, inner = scope): void => walk(child, inner, visit);
  switch (expression.kind) {
    case 'text':
      for (const part of expression.parts) if (typeof part !== 'string') into(part);
      break;
    case 'object': {
      const siblings = new Map(expression.nested.map(({ name }) => [name, any]));
      const inner = siblings.size === 0 ? scope : scope.with(siblings);
      for (const { computed, value } of expression.entries) {
        if (computed !== null) into(computed, inner);
        into(value, inner);
      }
      for (const { body } of expression.nested) into(body, inner);
      break;
    }
    case 'list':
      for (const item of expression.items) into(item);
      break;
    case 'member':
    case 'sure':
      into(expression.of);
      break;
    case 'index':
      into(expression.of);
      into(expression.at);
      break;
    case 'call':
      if (expression.on !== null && !isNamespace(expression.on)) into(expression.on);
      for (const value of expression.given) {
        if (value.kind !== 'lambda') into(value);
        else into(value.body, scope.with(localsOfLambda(expression, value, scope)));
      }
      break;
    case 'choice':
      into(expression.when);
      into(expression.then);
      into(expression.else);
      break;
    case 'operation':
      for (const operand of expression.operands) into(operand);
      break;
    case 'loop':
      into(expression.over);
      into(expression.body, scope.with(localsOfLoop(expression, scope)));
      break;
    case 'condition':
      into(expression.when);
      into(expression.body);
      break;
    case 'lambda':
      into(expression.body);
      break;
  }
}

const isNamespace = (on: Expression): boolean => on.kind === 'name' && (on.name === 'az' || on.name === 'sys');

/** The expressions of a statement; those of decorators are none of them. */
export function expressionsOf(statement: Statement): readonly Expression[] {
  switch (statement.kind) {
    case 'param':
      return statement.value === null ? [] : [statement.value];
    case 'var':
    case 'metadata':
    case 'output':
    case 'assignment':
      return [statement.value];
    case 'resource':
    case 'module':
    case 'func':
      return [statement.body];
    default:
      return [];
  }
}

/** Every expression of a file. The parameters of a function are names in its body. */
export function walkFile(file: BicepFile, scope: Scope, visit: (expression: Expression, scope: Scope) => void): void {
  for (const statement of file.statements) {
    const inner = statement.kind === 'func' ? scope.with(parametersOf(statement.name, statement.takes, scope)) : scope;
    for (const expression of expressionsOf(statement)) walk(expression, inner, visit);
  }
}

function parametersOf(name: string, takes: readonly { readonly name: string }[], scope: Scope) {
  const shapes = scope.func(name)?.takes ?? [];
  return new Map(takes.map((parameter, n) => [parameter.name, shapes[n] ?? ({ kind: 'any' } as const)]));
}
