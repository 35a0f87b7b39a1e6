import type { SyntaxNode } from '../language-service.ts';
import { arrival, type Evaluate, type Frame, type Scope } from '../scope.ts';
import { argumentsOf, part, partIfAny, simpleName, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { cellOf, type Value } from '../values.ts';
import { compileIsNull } from './conversions.ts';

type Form = (node: SyntaxNode, scope: Scope) => Evaluate;

/** Calls that do not evaluate every argument, or that use more than their values. */
export const specialForms: Readonly<Record<string, Form>> = {
  iff: choose,
  iif: choose,
  case: choose,
  coalesce: (node, scope) => {
    const type = typeOf(node);
    sameType(argumentsOf(node));
    const values = compileAll(argumentsOf(node), scope);
    return (frame) => {
      for (const value of values) {
        const found = value(frame);
        if (found !== null && found !== '') return cellOf(found, type);
      }
      return cellOf(null, type);
    };
  },
  isnull: (node, scope) => compileIsNull(node, scope),
  isnotnull: (node, scope) => {
    const isNull = compileIsNull(node, scope);
    return (frame) => !isNull(frame);
  },
  notnull: (node, scope) => {
    const isNull = compileIsNull(node, scope);
    return (frame) => !isNull(frame);
  },
  ingestion_time: (_, scope) => {
    const index = scope.columns.findIndex((column) => column.name === arrival);
    if (index < 0) return unsupported('ingestion_time() of rows that are no longer those of a table');
    return ({ row }) => row[index] ?? unsupported('ingestion_time() of a row that was given none');
  },
  /** The column if the binder found it, else the default. */
  column_ifexists: (node, scope) => {
    const [name, otherwise] = argumentsOf(node);
    if (!name || !otherwise) return unsupported('column_ifexists() without its two arguments');
    const index = scope.columns.findIndex((column) => column.name === name.LiteralValue);
    return index < 0 ? scope.engine.compile(otherwise, scope) : ({ row }) => row[index] ?? null;
  },
  pack_all: (node, scope) => {
    const [ignore] = argumentsOf(node);
    const isIgnoring = ignore ? scope.engine.compile(ignore, scope) : () => false;
    const columns = scope.columns.filter((column) => column.name !== arrival);
    return (frame) => {
      const ignores = isIgnoring(frame) === true;
      return packed(
        columns.map((column) => column.name),
        frame.row,
        ignores,
      );
    };
  },
  bag_pack_columns: (node, scope) => {
    const names = argumentsOf(node).map((each) => simpleName(each) ?? unsupported('bag_pack_columns() of no column'));
    const values = compileAll(argumentsOf(node), scope);
    return (frame) => packed(names, valuesOf(values, frame), false);
  },
};

function packed(names: readonly string[], values: readonly Value[], isIgnoringNothing: boolean): Value {
  const pairs = names.map((name, index): [string, Value] => [name, values[index] ?? null]);
  return new Map(isIgnoringNothing ? pairs.filter(([, value]) => value !== null && value !== '') : pairs);
}

function compileAll(nodes: readonly SyntaxNode[], scope: Scope): Evaluate[] {
  return nodes.map((node) => scope.engine.compile(node, scope));
}

const valuesOf = (values: readonly Evaluate[], frame: Frame): Value[] => values.map((value) => value(frame));

/** `iff(condition, then, else)` and `case(condition, then, condition, then, …, else)`. A null condition does not hold. */
function choose(node: SyntaxNode, scope: Scope): Evaluate {
  const nodes = argumentsOf(node);
  sameType(nodes.filter((_, index) => index % 2 === 1 || index === nodes.length - 1));
  const args = compileAll(argumentsOf(node), scope);
  const otherwise = args.at(-1) ?? unsupported('a choice without values');
  const type = typeOf(node);
  return (frame) => {
    for (let index = 0; index + 1 < args.length; index += 2) {
      if (args[index]?.(frame) === true) return cellOf(args[index + 1]?.(frame) ?? null, type);
    }
    return cellOf(otherwise(frame), type);
  };
}

/** The service wants one type, though its language service does not say so of whole numbers beside reals. */
function sameType(nodes: readonly SyntaxNode[]): void {
  const types = new Set(nodes.map(typeOf));
  if (types.has('real') && (types.has('long') || types.has('int'))) unsupported('a choice between reals and integers');
}

/** The expression of `name = expression`, or the expression itself. */
export const unnamed = (node: SyntaxNode): SyntaxNode =>
  partIfAny(node, 'EqualToken') && partIfAny(node, 'Name') ? part(node, 'Expression') : node;
