import type { SyntaxNode } from '../language-service.ts';
import type { Evaluate, Frame, Scope } from '../scope.ts';
import { argumentsOf, nameOf, part, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import type { TypeName, Value } from '../values.ts';

/** One call of an aggregate in `summarize` or `make-series`. */
export type AggregateCall = {
  readonly name: string;
  readonly nodes: readonly SyntaxNode[];
  readonly args: readonly Evaluate[];
  readonly types: readonly TypeName[];
  /** Static type of the result; `unknown` where there are several. */
  readonly type: TypeName;
  readonly scope: Scope;
};

/** Makes one value of the rows of a group; an aggregate with several results gives an array of them. */
export type Aggregate = (group: readonly Frame[], call: AggregateCall) => Value;

export type Aggregates = Readonly<Record<string, Aggregate>>;

export function aggregateCall(node: SyntaxNode, scope: Scope): AggregateCall {
  const nodes = argumentsOf(node);
  const isColumn = (each: SyntaxNode) => scope.engine.kinds.syntax(each) !== 'StarExpression';
  return {
    name: nameOf(part(node, 'Name')),
    nodes,
    args: nodes.map((each) => (isColumn(each) ? scope.engine.compile(each, scope) : everyColumn)),
    types: nodes.map(typeOf),
    type: typeOf(node),
    scope,
  };
}

const everyColumn: Evaluate = () => unsupported('* as a value');

/** The values of the first argument in a group. */
export const valuesOf = (group: readonly Frame[], { args }: AggregateCall): Value[] => {
  const [value] = args;
  return value ? group.map(value) : unsupported('an aggregate of nothing');
};

/** The values that are there. */
export const presentValues = (group: readonly Frame[], call: AggregateCall): Value[] =>
  valuesOf(group, call).filter((value) => value !== null);

/** The argument at `index`, which is the same for every row. */
export function constantAt(index: number, group: readonly Frame[], call: AggregateCall): Value | undefined {
  const argument = call.args[index];
  if (!argument) return undefined;
  return argument(group[0] ?? { row: [], rows: [], index: 0 });
}

/** The aggregate over the rows where its last argument holds. */
export const where =
  (aggregate: Aggregate, argumentCount = 1): Aggregate =>
  (group, call) => {
    const predicate = call.args[argumentCount] ?? unsupported(`${call.name}() without its condition`);
    const rest = call.args.toSpliced(argumentCount, 1);
    return aggregate(
      group.filter((frame) => predicate(frame) === true),
      { ...call, args: rest },
    );
  };
