import { isAggregate } from './aggregates/index.ts';
import { arrayFunctions } from './functions/arrays.ts';
import { bagFunctions } from './functions/bags.ts';
import { conversionFunctions } from './functions/conversions.ts';
import { mathFunctions } from './functions/math.ts';
import { setFunctions } from './functions/sets.ts';
import { specialForms } from './functions/special-forms.ts';
import { textFunctions } from './functions/text.ts';
import { textSearchFunctions } from './functions/text-search.ts';
import { timeFunctions } from './functions/times.ts';
import { windowForms } from './functions/window.ts';
import type { SyntaxNode } from './language-service.ts';
import type { Call, Evaluate, ScalarFunctions, Scope } from './scope.ts';
import { argumentsOf, calledBody, nameOf, part, typeOf } from './syntax.ts';
import { unsupported } from './unsupported.ts';
import { compileUserFunction } from './user-function.ts';

/** Every function of its arguments alone. */
const scalarFunctions: ScalarFunctions = {
  ...arrayFunctions,
  ...bagFunctions,
  ...conversionFunctions,
  ...mathFunctions,
  ...setFunctions,
  ...textFunctions,
  ...textSearchFunctions,
  ...timeFunctions,
};

/** A call: of an aggregate, of a function declared in the query or the workspace, or of one of Kusto's own. */
export function compileCall(node: SyntaxNode, scope: Scope): Evaluate {
  const name = nameOf(part(node, 'Name'));
  const body = calledBody(node);
  if (body) return compileUserFunction(node, body, scope);
  if (scope.aggregates && isAggregate(name)) {
    const slot = scope.aggregates.add(node);
    return ({ row }) => row[slot] ?? null;
  }
  const form = own(specialForms, name) ?? own(windowForms, name);
  if (form) return form(node, scope);
  const called = own(scalarFunctions, name);
  if (!called) return unsupported(`the function ${name}()`);
  const nodes = argumentsOf(node);
  const args = nodes.map((each) => scope.engine.compile(each, scope));
  const { clock } = scope.engine;
  const call: Call = {
    name,
    types: nodes.map(typeOf),
    type: typeOf(node),
    get now() {
      return clock.now;
    },
  };
  return (frame) => {
    return called(
      args.map((arg) => arg(frame)),
      call,
    );
  };
}

const choices: ReadonlySet<string> = new Set(['iff', 'iif', 'case', 'coalesce', 'isnull', 'isnotnull', 'notnull']);

/** Whether a function of Kusto's own reads nothing but its arguments and the clock. */
export const isOfArgumentsAlone = (name: string): boolean =>
  choices.has(name) || (Object.hasOwn(scalarFunctions, name) && !isAggregate(name));

/** Names come from queries, and `constructor` is one. */
const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
