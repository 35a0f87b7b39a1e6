import type { KindNames, SyntaxNode } from './language-service.ts';
import { calledBody, listOf, nameOf, part, walk } from './syntax.ts';

/**
 * What a transformation may use: operators that make at most one row of one row.
 * https://learn.microsoft.com/azure/azure-monitor/data-collection/data-collection-transformations-kql
 */
const operators: ReadonlySet<string> = new Set([
  'ExtendOperator',
  'ProjectOperator',
  'PrintOperator',
  'FilterOperator',
  'ParseOperator',
  'ProjectAwayOperator',
  'ProjectRenameOperator',
]);

const functions: ReadonlySet<string> = new Set(
  `binary_and binary_or binary_not binary_shift_left binary_shift_right binary_xor
  tobool todatetime todouble toreal toguid toint tolong tostring totimespan
  ago datetime_add datetime_diff datetime_part dayofmonth dayofweek dayofyear endofday endofmonth endofweek endofyear
  getmonth getyear hourofday make_datetime make_timespan now startofday startofmonth startofweek startofyear weekofyear
  array_concat array_length pack_array pack parse_json parse_xml zip
  abs bin floor ceiling exp exp10 exp2 isfinite isinf isnan log log10 log2 pow round sign
  case iif max_of min_of
  base64_encodestring base64_decodestring countof extract extract_all indexof isempty isnotempty split strcat
  strcat_delim strlen substring tolower toupper hash_sha256
  gettype isnotnull isnull columnifexists parse_cef_dictionary geo_location`.split(/\s+/),
);

/** Operators between values that the list of the page names, and what every query is made of. */
const expressions =
  /^((Boolean|Int|Long|Real|Decimal|DateTime|Timespan|Guid|String|CompoundString|Null|TypeOf|Token)Literal|Parenthesized|Path|Element|Bracketed|SimpleNamed|FunctionCall|Pipe|Unary(Plus|Minus)|Add|Subtract|Multiply|Divide|Modulo|(Less|Greater)Than(OrEqual)?|Equal|NotEqual|EqualTilde|BangTilde|And|Or|In|NotIn|(Not)?(Contains|Has|StartsWith|EndsWith)(Cs)?|MatchesRegex|Star|PrimitiveType|DataTable)Expression$/;

/** The page's own words for what to use instead. */
const insteadOf: Readonly<Record<string, string>> = {
  iff: 'iif',
  column_ifexists: 'columnifexists',
  base64_encode_tostring: 'base64_encodestring',
  base64_decode_tostring: 'base64_decodestring',
  bag_pack: 'pack',
};

const parseLimit = 10;

/** Everything in a query that a transformation may not use, each as a sentence. */
export function outsideSubset(root: SyntaxNode, kinds: KindNames): string[] {
  const problems: string[] = [];
  walk(root, (node) => {
    const kind = kinds.syntax(node);
    if (kind === 'FunctionCallExpression') problems.push(...outsideFunctions(nameOf(part(node, 'Name')), node));
    else if (kind === 'DynamicExpression') problems.push('dynamic() is not available: use parse_json() of the text');
    else if (kind === 'ParseOperator') problems.push(...wideParse(node, kinds));
    else if (kind.endsWith('Operator') && !operators.has(kind)) problems.push(`${operatorName(kind)} is not available`);
    else if (kind.endsWith('Expression') && !/^Json/.test(kind) && !expressions.test(kind)) {
      problems.push(`${operatorName(kind)} is not available`);
    }
  });
  return [...new Set(problems)];
}

function outsideFunctions(name: string, call: SyntaxNode): string[] {
  if (functions.has(name) || calledBody(call)) return [];
  const instead = insteadOf[name];
  return [`${name}() is not available${instead ? `: use ${instead}()` : ''}`];
}

function wideParse(node: SyntaxNode, kinds: KindNames): string[] {
  const targets = listOf(node, 'Patterns').filter((each) => /^Name/.test(kinds.syntax(each)));
  return targets.length > parseLimit
    ? [`parse into ${targets.length} columns: at most ${parseLimit} are allowed, so split it`]
    : [];
}

const operatorName = (kind: string): string => kind.replace(/(Operator|Expression)$/, '').toLowerCase();
