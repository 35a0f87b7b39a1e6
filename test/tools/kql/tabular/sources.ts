import { calculate, negate } from '../arithmetic.ts';
import { order } from '../comparison.ts';
import { converted } from '../convert.ts';
import { constantOf } from '../expression.ts';
import type { SyntaxNode } from '../language-service.ts';
import { noFrame, type Row, type Scope, type Table, withoutRows } from '../scope.ts';
import { listOf, part, tableColumns, typeOf } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { cellOf, isNumeric, isTimespan, nothingOf, type TypeName, type Value } from '../values.ts';
import { compileColumns } from './project.ts';

export function print(node: SyntaxNode, scope: Scope): Table {
  const columns = tableColumns(node);
  const row = compileColumns(listOf(node, 'Expressions'), withoutRows(scope), columns.length)(noFrame);
  return { columns, rows: [row], serialized: false };
}

/** `range x from 1 to 10 step 2` */
export function range(node: SyntaxNode, scope: Scope): Table {
  const columns = tableColumns(node);
  const type = columns[0]?.type ?? 'long';
  const [from, to, step] = ['From', 'To', 'Step'].map((name) => constantOf(part(node, name), scope));
  if (from === undefined || to === undefined || step === undefined || from === null || to === null || step === null) {
    return unsupported('range with nulls');
  }
  const isDown = isNegative(step);
  const rows: Row[] = [];
  for (let value: Value = from; value !== null; value = calculate('+', value, step)) {
    if (isDown ? order(value, to) < 0 : order(value, to) > 0) break;
    rows.push([cellOf(value, type)]);
    if (rows.length > 1_000_000) return unsupported('range without an end');
  }
  return { columns, rows, serialized: true };
}

function isNegative(step: Value): boolean {
  if (isNumeric(step)) return Number(step) === 0 ? unsupported('range without a step') : step < 0;
  if (!isTimespan(step) || step.ticks === 0n) return unsupported('range without a step');
  return step.ticks < 0n;
}

/** `datatable(a:long)[1, 2]`: what is not of the column's type is converted, as the service does. */
export function datatable(node: SyntaxNode, scope: Scope): Table {
  const columns = tableColumns(node);
  const values = listOf(node, 'Values');
  const rows: Row[] = [];
  for (let at = 0; at < values.length; at += columns.length) {
    rows.push(
      columns.map((column, index) => {
        const value = values[at + index] ?? unsupported('a datatable with a row cut short');
        return literalCell(value, column.type, scope);
      }),
    );
  }
  return { columns, rows, serialized: false };
}

function literalCell(node: SyntaxNode, type: TypeName, scope: Scope): Value {
  const minus = smallestLong(node, scope);
  const value = minus ?? constantOf(node, scope);
  const given = typeOf(node);
  if (value === null) return nothingOf(type);
  if (type === 'dynamic' && typeof value === 'string' && given === 'string') return value;
  return given === type || type === 'dynamic' ? value : cellOf(converted(value, given, type), type);
}

/** The smallest long has no positive counterpart: its digits alone are out of range. */
function smallestLong(node: SyntaxNode, scope: Scope): Value | undefined {
  if (scope.engine.kinds.syntax(node) !== 'UnaryMinusExpression') return undefined;
  const digits = part(node, 'Expression');
  if (scope.engine.kinds.syntax(digits) !== 'LongLiteralExpression') return undefined;
  const literal = digits.GetChild(0)?.Text ?? '';
  return /^\d+$/.test(literal) ? negate(BigInt(literal)) : undefined;
}
