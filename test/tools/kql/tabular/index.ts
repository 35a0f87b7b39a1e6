import type { SyntaxNode } from '../language-service.ts';
import { over, type Scope, type Table } from '../scope.ts';
import { nameOf, parametersOf, part, partIfAny, tableColumns } from '../syntax.ts';
import { unsupported } from '../unsupported.ts';
import { evaluatePlugin } from './evaluate.ts';
import { join, lookup } from './join.ts';
import { makeSeries } from './make-series.ts';
import { mvApply } from './mv-apply.ts';
import { mvExpand } from './mv-expand.ts';
import { parse, parseWhere } from './parse.ts';
import { parseKv } from './parse-kv.ts';
import { partition } from './partition.ts';
import { extend, project, renameColumns, schemaOf, selectColumns } from './project.ts';
import { scan } from './scan.ts';
import { sort, take, top } from './sort.ts';
import { distinct, summarize } from './summarize.ts';

type Operator = (node: SyntaxNode, input: Table, scope: Scope) => Table;

/** What can stand after a bar. An operator that is not here is refused. */
export const operators: Readonly<Record<string, Operator>> = {
  FilterOperator: (node, input, scope) => {
    const condition = scope.engine.compile(part(node, 'Condition'), over(input, scope));
    const { rows } = input;
    return { ...input, rows: rows.filter((row, index) => condition({ row, rows, index }) === true) };
  },
  CountOperator: (node, input) => {
    if (partIfAny(node, 'AsIdentifier')) return unsupported('count as');
    return { columns: tableColumns(node), rows: [[BigInt(input.rows.length)]], serialized: false };
  },
  ExtendOperator: extend,
  SerializeOperator: (node, input, scope) => extend(node, { ...input, serialized: true }, scope),
  ProjectOperator: project,
  ProjectAwayOperator: selectColumns,
  ProjectKeepOperator: selectColumns,
  ProjectReorderOperator: selectColumns,
  ProjectByNamesOperator: selectColumns,
  ProjectRenameOperator: renameColumns,
  GetSchemaOperator: schemaOf,
  SummarizeOperator: summarize,
  DistinctOperator: distinct,
  SortOperator: sort,
  TopOperator: top,
  TakeOperator: take,
  JoinOperator: join,
  LookupOperator: lookup,
  MvExpandOperator: mvExpand,
  MvApplyOperator: mvApply,
  MakeSeriesOperator: makeSeries,
  ParseOperator: parse,
  ParseWhereOperator: parseWhere,
  ParseKvOperator: parseKv,
  PartitionOperator: partition,
  EvaluateOperator: evaluatePlugin,
  ScanOperator: scan,
  AsOperator: (node, input, scope) => {
    if (parametersOf(node).size > 0) return unsupported('as with a hint');
    scope.engine.named.set(nameOf(part(node, 'Name')), input);
    return input;
  },
  RenderOperator: (_, input) => input,
};
