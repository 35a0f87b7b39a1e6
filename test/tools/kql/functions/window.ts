import { calculate } from '../arithmetic.ts';
import { order } from '../comparison.ts';
import type { SyntaxNode } from '../language-service.ts';
import { type Evaluate, type Frame, frames, noFrame, type Row, type Scope, withoutRows } from '../scope.ts';
import { argumentsOf, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { nothingOf, type Value } from '../values.ts';

type Form = (node: SyntaxNode, scope: Scope) => Evaluate;

/** Functions of the row's neighbours: refused where the order of rows is not fixed. */
export const windowForms: Readonly<Record<string, Form>> = {
  prev: (node, scope) => neighbour(node, scope, -1),
  next: (node, scope) => neighbour(node, scope, 1),
  row_number: (node, scope) => {
    const [start, restart] = argumentsOf(node);
    const first = start ? constant(start, scope) : 1n;
    if (typeof first !== 'bigint') return unsupported('row_number() from no whole number');
    const restarts = restartOf(restart, scope);
    return running(node, scope, (frame, before) =>
      before === undefined || restarts(frame) ? first : calculate('+', before, 1n),
    );
  },
  row_cumsum: (node, scope) => {
    const [term, restart] = argumentsOf(node);
    if (!term) return unsupported('row_cumsum() of nothing');
    const value = scope.engine.compile(term, scope);
    const restarts = restartOf(restart, scope);
    return running(node, scope, (frame, before) => {
      const added = value(frame);
      const base = before === undefined || restarts(frame) ? null : before;
      if (base === null) return added;
      return added === null ? base : calculate('+', base, added);
    });
  },
  row_rank_dense: (node, scope) => rank(node, scope, (before) => before + 1n),
  row_rank_min: (node, scope) => rank(node, scope, (_, position) => position),
};

function serialized(node: SyntaxNode, scope: Scope): void {
  if (!scope.serialized) unsupported(`${typeOf(node)} of neighbouring rows, but the rows have no fixed order`);
}

function constant(node: SyntaxNode, scope: Scope): Value {
  return scope.engine.compile(node, withoutRows(scope))(noFrame);
}

function restartOf(node: SyntaxNode | undefined, scope: Scope): (frame: Frame) => boolean {
  if (!node) return () => false;
  const restart = scope.engine.compile(node, scope);
  return (frame) => restart(frame) === true;
}

function neighbour(node: SyntaxNode, scope: Scope, direction: 1 | -1): Evaluate {
  serialized(node, scope);
  const [term, offset, otherwise] = argumentsOf(node);
  if (!term) return unsupported('prev() or next() of nothing');
  const value = scope.engine.compile(term, scope);
  const distance = offset ? constant(offset, scope) : 1n;
  if (typeof distance !== 'bigint' || distance < 1n) return unsupported('prev() or next() over no distance');
  const missing = otherwise ? constant(otherwise, scope) : nothingOf(typeOf(term));
  return ({ rows, index }) => {
    const at = index + direction * Number(distance);
    const row = rows[at];
    return row === undefined ? missing : value({ row, rows, index: at });
  };
}

/** A value that follows from the row and the value of the row before; found for all rows at once. */
function running(node: SyntaxNode, scope: Scope, step: (frame: Frame, before: Value | undefined) => Value): Evaluate {
  serialized(node, scope);
  const known = new WeakMap<readonly Row[], Value[]>();
  return ({ rows, index }) => {
    let values = known.get(rows);
    if (!values) {
      values = [];
      for (const frame of frames(rows)) values.push(step(frame, values.at(-1)));
      known.set(rows, values);
    }
    return values[index] ?? null;
  };
}

function rank(node: SyntaxNode, scope: Scope, next: (before: bigint, position: bigint) => bigint): Evaluate {
  serialized(node, scope);
  const [term, restart] = argumentsOf(node);
  if (!term) return unsupported('a rank of nothing');
  const value = scope.engine.compile(term, scope);
  const restarts = restartOf(restart, scope);
  let position = 0n;
  return running(node, scope, (frame, before) => {
    if (typeof before !== 'bigint' || restarts(frame)) {
      position = 1n;
      return 1n;
    }
    position += 1n;
    const previous = frame.rows[frame.index - 1];
    const a = previous ? value({ row: previous, rows: frame.rows, index: frame.index - 1 }) : null;
    const b = value(frame);
    const isSame = a === null || b === null ? a === b : order(a, b) === 0;
    return isSame ? before : next(before, position);
  });
}
