import { calculate, negate, type Operation } from './arithmetic.ts';
import { compileCall } from './call.ts';
import { isOfColumnsAlone, scopeOfColumns } from './column-expression.ts';
import { equal, not, ordered } from './comparison.ts';
import { textOf } from './convert.ts';
import type { SyntaxNode } from './language-service.ts';
import { literalOf } from './literals.ts';
import { elementAt, memberOf } from './path.ts';
import { matchesRegex } from './regex.ts';
import { type Evaluate, type Frame, noFrame, type Scope, withoutRows } from './scope.ts';
import { argumentsOf, type Column, cached, hasColumns, nameOf, part, partIfAny, simpleName, typeOf } from './syntax.ts';
import { folded, hasWhole, type Matcher, textMatcher } from './text-match.ts';
import { unsupported } from './unsupported.ts';
import { cellOf, isArray, keyOf, nothingOf, type TypeName, type Value } from './values.ts';

/**
 * Turns a scalar expression into a function of the row; the result has the type that the binder gives it. What depends on
 * the columns alone is compiled once for all executions of a query.
 */
export function compile(node: SyntaxNode, scope: Scope): Evaluate {
  if (!isOfColumnsAlone(node, scope.engine.kinds)) return compileNode(node, scope);
  const compiled = compiledOver(node);
  const known = compiled.get(scope.columns);
  if (known) return known;
  const made = compileNode(node, scopeOfColumns(scope));
  compiled.set(scope.columns, made);
  return made;
}

const compiledOver = cached(() => new WeakMap<readonly Column[], Evaluate>());

function compileNode(node: SyntaxNode, scope: Scope): Evaluate {
  const literal = literalOf(node, scope.engine.kinds);
  if (literal !== undefined) return () => literal;
  const kind = scope.engine.kinds.syntax(node);
  const type = typeOf(node);
  const evaluate = compileKind(kind, node, scope);
  if (/^(unknown|dynamic|tuple)$/.test(type)) return evaluate;
  const primitive = primitives[type];
  return (frame) => {
    const value = evaluate(frame);
    return typeof value === primitive ? value : cellOf(value, type);
  };
}

/** What `typeof` says of the values of a type. */
const primitives: Readonly<Record<string, string>> = {
  bool: 'boolean',
  int: 'bigint',
  long: 'bigint',
  real: 'number',
  string: 'string',
};

function compileKind(kind: string, node: SyntaxNode, scope: Scope): Evaluate {
  const operation = operations[kind];
  if (operation) return compileArithmetic(operation, node, scope);
  const comparison = comparisons[kind];
  if (comparison) return compileComparison(comparison, node, scope);
  const matcher = textMatcher(kind);
  if (matcher && scope.engine.kinds.syntax(part(node, 'Left')) === 'StarExpression') {
    const isAnywhere = compileAnywhere(node, scope, matcher.matches);
    return (frame) => isAnywhere(frame) !== matcher.isNegated;
  }
  if (matcher) {
    return compileText(node, scope, (text, pattern) => matcher.matches(text, pattern) !== matcher.isNegated);
  }
  return (forms[kind] ?? unsupported(kind))(node, scope);
}

const operations: Readonly<Record<string, Operation>> = {
  AddExpression: '+',
  SubtractExpression: '-',
  MultiplyExpression: '*',
  DivideExpression: '/',
  ModuloExpression: '%',
};

type Comparison = (a: Value, b: Value) => boolean | null;

const comparisons: Readonly<Record<string, Comparison>> = {
  EqualExpression: equal,
  NotEqualExpression: (a, b) => not(equal(a, b)),
  LessThanExpression: (a, b) => ordered(a, b, (order) => order < 0),
  LessThanOrEqualExpression: (a, b) => ordered(a, b, (order) => order <= 0),
  GreaterThanExpression: (a, b) => ordered(a, b, (order) => order > 0),
  GreaterThanOrEqualExpression: (a, b) => ordered(a, b, (order) => order >= 0),
};

const forms: Readonly<Record<string, (node: SyntaxNode, scope: Scope) => Evaluate>> = {
  NameReference: compileName,
  ParenthesizedExpression: (node, scope) => scope.engine.compile(part(node, 'Expression'), scope),
  FunctionCallExpression: compileCall,
  SimpleNamedExpression: (node, scope) => scope.engine.compile(part(node, 'Expression'), scope),
  PathExpression: (node, scope) => {
    const selector = part(node, 'Selector');
    const name = simpleName(selector);
    if (name === undefined) return unsupported('a path that is no name');
    const ofStep = `${simpleName(part(node, 'Expression'))}.${name}`;
    const state = scope.columns.findIndex((column) => column.name === ofStep);
    if (state >= 0 && typeOf(part(node, 'Expression')) !== 'dynamic') return ({ row }) => row[state] ?? null;
    const bag = scope.engine.compile(part(node, 'Expression'), scope);
    return (frame) => memberOf(bag(frame), name);
  },
  ElementExpression: (node, scope) => {
    const holder = scope.engine.compile(part(node, 'Expression'), scope);
    const selector = scope.engine.compile(part(part(node, 'Selector'), 'Expression'), scope);
    return (frame) => elementAt(holder(frame), selector(frame));
  },
  UnaryMinusExpression: (node, scope) => {
    const value = scope.engine.compile(part(node, 'Expression'), scope);
    return (frame) => negate(value(frame));
  },
  UnaryPlusExpression: (node, scope) => scope.engine.compile(part(node, 'Expression'), scope),
  AndExpression: (node, scope) => {
    const [left, right] = sides(node, scope);
    return (frame) => {
      const a = left(frame);
      if (a === false) return false;
      const b = right(frame);
      return b === false ? false : a === null || b === null ? null : true;
    };
  },
  OrExpression: (node, scope) => {
    const [left, right] = sides(node, scope);
    return (frame) => {
      const a = left(frame);
      if (a === true) return true;
      const b = right(frame);
      return b === true ? true : a === null || b === null ? null : false;
    };
  },
  EqualTildeExpression: (node, scope) => compileText(node, scope, (a, b) => folded(a) === folded(b)),
  BangTildeExpression: (node, scope) => compileText(node, scope, (a, b) => folded(a) !== folded(b)),
  MatchesRegexExpression: (node, scope) => compileText(node, scope, matchesRegex),
  BetweenExpression: (node, scope) => compileBetween(node, scope),
  NotBetweenExpression: (node, scope) => {
    const between = compileBetween(node, scope);
    return (frame) => not(between(frame));
  },
  InExpression: (node, scope) => compileIn(node, scope, keyOf),
  NotInExpression: (node, scope) => negated(compileIn(node, scope, keyOf)),
  InCsExpression: (node, scope) => compileIn(node, scope, foldedKey),
  NotInCsExpression: (node, scope) => negated(compileIn(node, scope, foldedKey)),
  HasAnyExpression: (node, scope) => compileHas(node, scope, (terms, has) => terms.some(has)),
  HasAllExpression: (node, scope) => compileHas(node, scope, (terms, has) => terms.every(has)),
  ToScalarExpression: (node, scope) => {
    if (partIfAny(node, 'KindParameter')) return unsupported('toscalar with a parameter');
    const expression = part(node, 'Expression');
    if (!hasColumns(expression)) return scope.engine.compile(expression, withoutRows(scope));
    const table = scope.engine.table(expression, withoutRows(scope));
    const value = table.rows[0]?.[0] ?? nothingOf(table.columns[0]?.type ?? 'unknown');
    return () => value;
  },
};

function compileName(node: SyntaxNode, scope: Scope): Evaluate {
  const name = nameOf(node);
  const symbol = node.ReferencedSymbol;
  if (!symbol) return unsupported(`the name ${name}, which means nothing here`);
  if (scope.engine.kinds.symbol(symbol) === 'Column') {
    const index = scope.columns.findIndex((column) => column.name === symbol.Name);
    if (index < 0) return unsupported(`the column ${name} where its row is out of scope`);
    return ({ row }) => row[index] ?? null;
  }
  const bound = scope.names.find(name);
  if (bound?.kind !== 'scalar') return unsupported(`the name ${name} as a value`);
  return () => bound.value();
}

const sides = (node: SyntaxNode, scope: Scope): [Evaluate, Evaluate] => [
  scope.engine.compile(part(node, 'Left'), scope),
  scope.engine.compile(part(node, 'Right'), scope),
];

function compileArithmetic(operation: Operation, node: SyntaxNode, scope: Scope): Evaluate {
  const [left, right] = sides(node, scope);
  const type = typeOf(node);
  if (['Left', 'Right'].some((side) => typeOf(part(node, side)) === 'dynamic')) {
    return unsupported('arithmetic with dynamic values, which wants them converted');
  }
  return (frame) => ofType(calculate(operation, left(frame), right(frame)), type);
}

/** `int + int` is bound as long; an int that overflows is refused by the type check. */
const ofType = (value: Value, type: TypeName): Value =>
  type === 'real' && typeof value === 'bigint' ? Number(value) : value;

function compileComparison(compare: Comparison, node: SyntaxNode, scope: Scope): Evaluate {
  const [left, right] = sides(node, scope);
  const [leftType, rightType] = [typeOf(part(node, 'Left')), typeOf(part(node, 'Right'))];
  const isMixed = (leftType === 'dynamic') !== (rightType === 'dynamic');
  return (frame) => {
    const [a, b] = [left(frame), right(frame)];
    if (isMixed && (a === '' || b === '') && (a === null || b === null)) {
      return unsupported('a dynamic null compared with an empty string');
    }
    return compare(a, b);
  };
}

function compileText(node: SyntaxNode, scope: Scope, matches: (text: string, pattern: string) => boolean): Evaluate {
  const [left, right] = sides(node, scope);
  const [leftType, rightType] = [typeOf(part(node, 'Left')), typeOf(part(node, 'Right'))];
  return (frame) => matches(textOf(left(frame), leftType), textOf(right(frame), rightType));
}

/** `* has "x"`: in any column of text. What only a column of another type holds is in doubt. */
function compileAnywhere(node: SyntaxNode, scope: Scope, matches: Matcher): (frame: Frame) => boolean {
  const pattern = scope.engine.compile(part(node, 'Right'), scope);
  const { columns } = scope;
  return (frame) => {
    const wanted = textOf(pattern(frame), typeOf(part(node, 'Right')));
    const holds = (column: Column, index: number) => matches(textOf(frame.row[index] ?? null, column.type), wanted);
    const found = columns.filter(holds);
    if (found.some(({ type }) => type === 'string')) return true;
    return found.length === 0 ? false : unsupported(`"${wanted}" in a column that is no text`);
  };
}

function compileBetween(node: SyntaxNode, scope: Scope): Evaluate {
  const value = scope.engine.compile(part(node, 'Left'), scope);
  const bounds = part(node, 'Right');
  const from = scope.engine.compile(part(bounds, 'First'), scope);
  const to = scope.engine.compile(part(bounds, 'Second'), scope);
  const isSpan = typeOf(part(node, 'Left')) === 'datetime' && typeOf(part(bounds, 'Second')) === 'timespan';
  return (frame) => {
    const [each, first, second] = [value(frame), from(frame), to(frame)];
    const last = isSpan ? calculate('+', first, second) : second;
    const [isAfter, isBefore] = [ordered(each, first, (o) => o >= 0), ordered(each, last, (o) => o <= 0)];
    if (isAfter === false || isBefore === false) return false;
    return isAfter === null || isBefore === null ? null : true;
  };
}

const negated =
  (condition: Evaluate): Evaluate =>
  (frame) =>
    not(condition(frame));

const foldedKey = (value: Value): string => keyOf(typeof value === 'string' ? folded(value) : value);

function compileIn(node: SyntaxNode, scope: Scope, key: (value: Value) => string): Evaluate {
  const left = scope.engine.compile(part(node, 'Left'), scope);
  const isDynamic = typeOf(part(node, 'Left')) === 'dynamic';
  const members = argumentsOf(node, 'Right');
  const holders = members.map((member) => compileMembers(member, scope));
  const isFixed = (member: SyntaxNode) => hasColumns(member) || literalOf(member, scope.engine.kinds) !== undefined;
  const isConstant = members.every(isFixed);
  const keysOf = (frame: Frame) =>
    new Set(holders.flatMap((values) => values(frame).map((value) => (value === null ? '' : key(value)))));
  let known: ReadonlySet<string> | undefined;
  return (frame) => {
    const value = left(frame);
    if (isArray(value)) return unsupported('in() of an array');
    if (isDynamic && value !== null && typeof value !== 'string')
      return unsupported('in() of a dynamic value that is no text');
    if (!isConstant) known = undefined;
    known ??= keysOf(frame);
    if (value === null) return known.has('') ? unsupported('in() of a null among nulls') : false;
    return known.has(key(value));
  };
}

/** The members that one argument of `in` brings: itself, the items of a dynamic array, the first column of a table. */
function compileMembers(node: SyntaxNode, scope: Scope): (frame: Frame) => readonly Value[] {
  if (hasColumns(node)) {
    const values = scope.engine.table(node, withoutRows(scope)).rows.map((row) => row[0] ?? null);
    return () => values;
  }
  const member = scope.engine.compile(node, scope);
  const isDynamic = typeOf(node) === 'dynamic';
  return (frame) => {
    const value = member(frame);
    return isDynamic && isArray(value) ? value : [value];
  };
}

function compileHas(
  node: SyntaxNode,
  scope: Scope,
  quantify: (terms: readonly string[], has: (term: string) => boolean) => boolean,
): Evaluate {
  const left = scope.engine.compile(part(node, 'Left'), scope);
  const type = typeOf(part(node, 'Left'));
  const holders = argumentsOf(node, 'Right').map((member) => compileMembers(member, scope));
  return (frame) => {
    const text = textOf(left(frame), type);
    const terms = holders.flatMap((values) => values(frame).map((value) => textOf(value, 'dynamic')));
    return quantify(terms, (term) => hasWhole(text, term));
  };
}

/** The value of an expression that needs no row: a bound of `range`, the count of `take`. */
export const constantOf = (node: SyntaxNode, scope: Scope): Value =>
  scope.engine.compile(node, withoutRows(scope))(noFrame);
