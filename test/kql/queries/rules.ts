import type { Kql } from '../../tools/kql/index.ts';

/** Big tables, that are read by time first. */
const tables: readonly string[] = [
  'VmLifecycle_CL',
  'VmLifecycleBridge_CL',
  'Heartbeat',
  'AzureActivity',
  'AzureMetrics',
];

/** A query that names what is not a column of its own, or reaches into another service, cannot be checked, or is slow. */
const notHere: readonly (readonly [RegExp, string])[] = [
  [/\bsearch\b/, 'search reads every table'],
  [/\bcontains\b/, 'contains reads every text to its end: has looks up words'],
  [/\b(arg|adx|workspace|app|externaldata)\s*\(/, 'it reaches into another service'],
  [/\bdistinct\b[^|;)\n]*[=(]/, 'distinct is documented for columns only: summarize by an expression'],
  [/\bevaluate\b/, 'the columns of a plugin are not known before it runs'],
  [/\bjoin\b(?!\s+kind\s*=)/, 'a join without its kind drops rows without a word'],
  [/\blookup\b(?!\s+kind\s*=)/, 'a lookup without its kind: say which'],
  [/\binnerunique\b/, 'innerunique keeps any row of several'],
];

/** What speaks against a query of the query pack, each a sentence. */
export function problemsOf(text: string, kql: Kql): string[] {
  const [question = ''] = text.split('\n');
  const withTexts = text.replaceAll(/^\s*\/\/.*$/gm, '');
  const code = withTexts.replaceAll(/"[^"\n]*"/g, '""');
  const { diagnostics, columns } = kql.bind(text);
  const isBound = diagnostics.length === 0;
  return [
    ...diagnostics.map(({ code: kind, message }) => `${kind} ${message}`),
    ...(isBound ? kql.analyze(text).map(({ code: kind, message }) => `${kind} ${message}`) : []),
    ...(isBound && columns.length === 0 ? ['it gives no table'] : []),
    ...(kql.format(text).replaceAll('\r', '').trimEnd() === text.trimEnd()
      ? []
      : ['it is not formatted as Microsoft formats it']),
    ...(text.endsWith('\n') && !text.endsWith('\n\n') ? [] : ['it does not end with one line break']),
    ...(/^\/\/ \S.*\?$/.test(question) ? [] : ['it does not open with the question that it answers']),
    ...tables
      .filter((table) => new RegExp(`\\b${table}\\b(?!\\s*\\|\\s*where TimeGenerated\\b)`).test(code))
      .map((table) => `the first that it asks of ${table} is not the time`),
    ...[
      ...code.matchAll(/\bHeartbeat\s*\|\s*where TimeGenerated > ago\((\d+)([mhd])\)(\s*\|\s*where _ResourceId in~)?/g),
    ]
      .filter(([, count, unit, ofSome]) => !ofSome && (unit === 'd' || (unit === 'h' && Number(count) > 1)))
      .map(() => 'it reads hours of the agent of every VM, which writes a row a minute'),
    ...notHere.filter(([pattern]) => pattern.test(code)).map(([, problem]) => problem),
    ...[...withTexts.matchAll(/\b(Vm\w+)\(([^)]*)\)/g)].flatMap(([, name = '', back = '']) => lookback(name, back)),
    ...timeRange(text, withTexts),
  ];
}

/** The binder takes any value for a span of time. */
function lookback(name: string, back: string): string[] {
  if (/^\d+[dhm](, |$)/.test(back)) return [];
  if (back === '') return [`${name} without how far it looks back`];
  return [`${name} has the lookback ${back}: write a span of time, as 14d`];
}

/** The portal knows the lookback of a query only from a filter on TimeGenerated; otherwise its own range applies, by default a day. */
function timeRange(text: string, code: string): string[] {
  if (/\bTimeGenerated\b/.test(code)) return [];
  const days = Math.max(...[...code.matchAll(/\bVm\w+\((\d+)d\)/g)].map(([, back]) => Number(back)));
  const note = `// In the portal, set the time range to ${days} days or more: a shorter one also cuts what the functions read.`;
  return text.includes(`\n${note}\n`) ? [] : [`it does not say: ${note}`];
}
