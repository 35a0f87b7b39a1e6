import { expect, test } from 'vitest';
import { openKql, Unsupported } from './index.ts';

const kql = openKql();
const now = '2026-08-01T12:00:00Z';

const rowsOf = (query: string) => kql.execute(query, { tables: {}, now }).rows;

type Case = { readonly name: string; readonly query: string; readonly rows: readonly (readonly unknown[])[] };

/** Three VMs: two steps of one event, one of another, one event without a VM. */
const steps = `datatable(Vm:string, Event:string, At:datetime, Seconds:long)[
  'vm-1', 'Reboot', datetime(2026-08-01 10:00), 30,
  'vm-1', 'Reboot', datetime(2026-08-01 10:20), long(null),
  'vm-2', 'Freeze', datetime(2026-08-01 11:05), 9,
  '', 'Freeze', datetime(2026-08-01 11:30), 12]`;

const cases: readonly Case[] = [
  {
    name: 'an unknown number is not above three, but it is not 30 either',
    query: `${steps} | project over = Seconds > 10, other = Seconds != 30`,
    rows: [
      [true, false],
      [null, true],
      [false, true],
      [true, true],
    ],
  },
  {
    name: 'a condition that is null drops its row, and so does its opposite',
    query: `${steps} | where not(Seconds > 100) | count`,
    rows: [[3]],
  },
  { name: 'an empty text is empty but not null', query: `print isnull(''), isempty('')`, rows: [[false, true]] },
  {
    name: 'has finds entire terms, contains any part',
    query: `print 'vm-12 rebooted' has 'vm', 'vm-12 rebooted' has '1', 'vm-12 rebooted' contains '1'`,
    rows: [[true, false, true]],
  },
  {
    name: 'underscores part terms in no way that equals a letter',
    query: `print 'scale_set' has 'set', 'scaleset' has 'set', 'SCALE set' has_cs 'scale'`,
    rows: [[true, false, false]],
  },
  {
    name: 'in is case-sensitive, in~ is not',
    query: `print 'Reboot' in ('reboot'), 'Reboot' in~ ('reboot'), 'Reboot' !in ('Freeze')`,
    rows: [[false, true, true]],
  },
  {
    name: 'between takes both ends, and a span as its end',
    query: `print 3 between (1 .. 3), datetime(2026-01-02) between (datetime(2026-01-01) .. 1d)`,
    rows: [[true, true]],
  },
  { name: 'whole numbers are truncated, reals are not', query: 'print 7 / 2, -7 / 2, 7 / 2.0', rows: [[3, -3, 3.5]] },
  { name: 'a remainder is never negative', query: 'print -7 % 3, 7 % -3', rows: [[2, 1]] },
  { name: 'dividing by zero gives nothing', query: 'print 1 / 0, 1.0 / 0', rows: [[null, 'Infinity']] },
  {
    name: 'a difference of moments is a span, a ratio of spans a number',
    query: 'print datetime(2026-08-01 12:00) - datetime(2026-08-01 11:30), 90m / 1h',
    rows: [['00:30:00', 1.5]],
  },
  {
    name: 'a moment keeps its ticks of a hundred nanoseconds',
    query: 'print datetime(2026-08-01 12:00:00.1234567) + 1tick',
    rows: [['2026-08-01T12:00:00.1234568Z']],
  },
  {
    name: 'now and ago are the time that is given',
    query: 'print now(), ago(30m)',
    rows: [['2026-08-01T12:00:00.0000000Z', '2026-08-01T11:30:00.0000000Z']],
  },
  {
    name: 'moments are rounded down, spans before zero too',
    query: 'print bin(datetime(2026-08-01 12:44), 30m), bin(-1m, 1h), startofweek(datetime(2026-08-01))',
    rows: [['2026-08-01T12:30:00.0000000Z', '-01:00:00', '2026-07-26T00:00:00.0000000Z']],
  },
  {
    name: 'a difference of months counts the borders between',
    query: `print datetime_diff('month', datetime(2026-08-01), datetime(2026-07-31)), datetime_diff('hour', datetime(2026-08-01 01:00), datetime(2026-08-01 00:59))`,
    rows: [[1, 1]],
  },
  {
    name: 'a day that a month does not have is its last',
    query: `print datetime_add('month', 1, datetime(2026-01-31)), format_datetime(datetime(2026-08-01 13:05), 'dd.MM. hh:mm tt')`,
    rows: [['2026-02-28T00:00:00.0000000Z', '01.08. 01:05 PM']],
  },
  {
    name: 'case takes the first that holds, coalesce the first that is there',
    query: `print case(false, 'a', bool(null), 'b', 'c'), coalesce('', 'x'), iff(1 > 0, 'yes', 'no')`,
    rows: [['c', 'x', 'yes']],
  },
  {
    name: 'properties of dynamic values are reached by path, what is not there is null',
    query: `print d = dynamic({"a": {"b": [1, 2.5, "x"]}}) | project d.a.b[0], d.a.b[-1], d['a']['c'], tostring(d.a)`,
    rows: [[1, 'x', null, '{"b":[1,2.5,"x"]}']],
  },
  {
    name: 'text that is not JSON stays text',
    query: `print parse_json('{"a":1}').a, gettype(parse_json('{a')), gettype(parse_json('1.5'))`,
    rows: [[1, 'string', 'double']],
  },
  {
    name: 'sums leave nulls out, and nothing sums up to zero',
    query: `${steps} | summarize sum(Seconds), avg(Seconds), min(Seconds), count(), dcount(Vm), none = sumif(Seconds, false)`,
    rows: [[51, 17, 9, 4, 3, 0]],
  },
  {
    name: 'a summary of no rows is one row, or none by key',
    query: `${steps} | where false | summarize n = count() | union (${steps} | where false | summarize n = count() by Vm | project n)`,
    rows: [[0]],
  },
  {
    name: 'arg_max returns the complete last row of each key',
    query: `${steps} | summarize arg_max(At, *) by Event | sort by Event asc`,
    rows: [
      ['Freeze', '2026-08-01T11:30:00.0000000Z', '', 12],
      ['Reboot', '2026-08-01T10:20:00.0000000Z', 'vm-1', null],
    ],
  },
  {
    name: 'aggregates can be calculated with',
    query: `${steps} | summarize share = round(100.0 * countif(Event == 'Freeze') / count(), 1), p = percentile(Seconds, 50)`,
    rows: [[50, 12]],
  },
  {
    name: 'lists flatten arrays, sets keep the order of the first',
    query: `datatable(k:long, d:dynamic)[1, dynamic([2, 1]), 1, dynamic(2)] | summarize make_list(d), make_set(d)`,
    rows: [
      [
        [2, 1, 2],
        [2, 1],
      ],
    ],
  },
  {
    name: 'sorting is descending by default, nulls at the small end',
    query: `${steps} | sort by Seconds | project Seconds`,
    rows: [[30], [12], [9], [null]],
  },
  {
    name: 'top is the sorted beginning',
    query: `${steps} | top 2 by Seconds asc nulls last | project Seconds`,
    rows: [[9], [12]],
  },
  {
    name: 'a join without a kind uses each key of the left once',
    query: `datatable(k:long, a:string)[1, 'x', 1, 'y'] | join (datatable(k:long, b:string)[1, 'p', 1, 'q']) on k`,
    rows: [
      [1, 'x', 1, 'p'],
      [1, 'x', 1, 'q'],
    ],
  },
  {
    name: 'an outer join fills numbers with null and text with nothing',
    query: `datatable(k:long)[1, 2] | join kind=leftouter (datatable(k:long, b:string)[1, 'p']) on $left.k == $right.k`,
    rows: [
      [1, 1, 'p'],
      [2, null, ''],
    ],
  },
  {
    name: 'an anti join keeps what has no match, and null matches null',
    query: `datatable(k:long)[1, 2, long(null)] | join kind=leftanti (datatable(k:long)[1, long(null)]) on k`,
    rows: [[2]],
  },
  {
    name: 'a lookup leaves the key of the right side out',
    query: `datatable(k:long)[1, 2] | lookup (datatable(k:long, b:string)[1, 'p']) on k`,
    rows: [
      [1, 'p'],
      [2, ''],
    ],
  },
  {
    name: 'a union keeps columns of one name and two types apart',
    query: `union (print x = 1), (print x = 'a') | sort by x_long desc`,
    rows: [
      [1, ''],
      [null, 'a'],
    ],
  },
  {
    name: 'arrays are expanded side by side, an empty one to no row, a null to one',
    query: `datatable(n:long, d:dynamic)[1, dynamic([7, 8]), 2, dynamic([]), 3, dynamic(null)] | mv-expand d to typeof(long)`,
    rows: [
      [1, 7],
      [1, 8],
      [3, null],
    ],
  },
  {
    name: 'a query is run inside each row',
    query: `datatable(n:long, d:dynamic)[1, dynamic([7, 9]), 2, dynamic([3])] | mv-apply x = d to typeof(long) on (top 1 by x) | project n, x`,
    rows: [
      [1, 9],
      [2, 3],
    ],
  },
  {
    name: 'a series has a value for every step, the end left out',
    query: `${steps} | make-series n = count() on At from datetime(2026-08-01 10:00) to datetime(2026-08-01 12:00) step 1h by Event | project Event, n`,
    rows: [
      ['Reboot', [2, 0]],
      ['Freeze', [0, 2]],
    ],
  },
  {
    name: 'text is parsed by its pattern, or not at all',
    query: `datatable(s:string)['id=5 state=ok', 'id=x state=ok'] | parse s with 'id=' id:long ' state=' state | project id, state`,
    rows: [
      [5, 'ok'],
      [null, ''],
    ],
  },
  {
    name: 'the row before is known where the order is',
    query: `${steps} | sort by At asc | extend gap = At - prev(At), n = row_number(), sum = row_cumsum(Seconds) | project gap, n, sum`,
    rows: [
      [null, 1, 30],
      ['00:20:00', 2, 30],
      ['00:45:00', 3, 39],
      ['00:25:00', 4, 51],
    ],
  },
  {
    name: 'a null is in no list, and so outside of every list',
    query: 'print long(null) in (1, 2), long(null) !in (1, 2)',
    rows: [[false, true]],
  },
  {
    name: 'a table named by as can be joined later',
    query: 'range x from 1 to 2 step 1 | as Before | extend x = x * 2 | join kind=inner (Before) on x | project x',
    rows: [[2]],
  },
  {
    name: 'a value is carried from row to row',
    query: `${steps} | sort by At asc | scan declare (worst: long = 0) with (step s: true => worst = max_of(s.worst, Seconds);) | project worst`,
    rows: [[30], [30], [30], [30]],
  },
  {
    name: 'a query is run over the rows of each key',
    query: `${steps} | where isnotempty(Vm) | partition by Vm (top 1 by At | project Vm, Event)`,
    rows: [
      ['vm-1', 'Reboot'],
      ['vm-2', 'Freeze'],
    ],
  },
  {
    name: 'several arrays are sorted by the first',
    query: 'print array_sort_desc(dynamic([1, 3, 2]), dynamic(["a", "b", "c"]))',
    rows: [
      [
        [3, 2, 1],
        ['b', 'c', 'a'],
      ],
    ],
  },
  {
    name: 'search finds any column of text',
    query: `${steps} | where * has 'reboot' | count`,
    rows: [[2]],
  },
  {
    name: 'functions see the names where they were declared',
    query:
      'let limit = 2; let above = (x: long) { x > limit }; let f = (T: (x: long)) { T | where above(x) }; let limit2 = 5; f((range x from 1 to 3 step 1))',
    rows: [[3]],
  },
  {
    name: 'a scalar is found by a query',
    query: 'let T = range x from 1 to 4 step 1; print toscalar(T | summarize max(x)), 3 in (T)',
    rows: [[4, true]],
  },
  {
    name: 'a regular expression finds letters of every script',
    query: `print extract(@'^(\\w+)-(\\d+)$', 2, 'größe-12'), replace_regex('a1b2', @'(\\d)', @'<\\1>')`,
    rows: [['12', 'a<1>b<2>']],
  },
];

test.each(cases)('$name', ({ query, rows }) => {
  expect(kql.bind(query).diagnostics).toEqual([]);
  expect(rowsOf(query)).toEqual(rows);
});

test.each([
  { name: 'count takes no notice of what it is given', query: `${steps} | summarize count(Seconds)`, rows: [[4]] },
  {
    name: 'a fuzzy union omits unknown tables',
    query: 'union isfuzzy=true (print x = 1), (Unknown)',
    rows: [[1]],
  },
  { name: 'a bag has no length as an array', query: 'print array_length(dynamic({}))', rows: [[null]] },
])('$name, regardless of the language service', ({ query, rows }) => {
  expect(kql.bind(query).diagnostics).toHaveLength(1);
  expect(rowsOf(query)).toEqual(rows);
});

/** Each is a query that Kusto answers, or refuses at run time, in a way this engine does not know. */
const refused: readonly { readonly name: string; readonly query: string; readonly why: RegExp }[] = [
  { name: 'a row number of rows in no order', query: `${steps} | extend n = row_number()`, why: /no fixed order/ },
  {
    name: 'the row before after a summary',
    query: `${steps} | sort by At | summarize n = count() by Vm | extend p = prev(n)`,
    why: /no fixed order/,
  },
  { name: 'a table without rows', query: 'Heartbeat | count', why: /table Heartbeat, of which no rows/ },
  { name: 'an unsupported operator', query: 'print x = 1 | sample 1', why: /SampleOperator/ },
  {
    name: 'an unsupported function',
    query: 'print geo_distance_2points(1.0, 1.0, 2.0, 2.0)',
    why: /geo_distance_2points/,
  },
  { name: 'a name that is a property of every object', query: 'print constructor(1)', why: /KS211/ },
  { name: 'a decimal', query: 'print decimal(1.5)', why: /DecimalLiteral/ },
  { name: 'a plugin', query: 'print d = dynamic({}) | evaluate narrow()', why: /narrow/ },
  { name: 'sorting by what has many types', query: 'print d = dynamic(1) | sort by d', why: /KS116/ },
  {
    name: 'the text of a real whose last digits are in doubt',
    query: 'print tostring(0.1 + 0.2)',
    why: /text of the real/,
  },
  { name: 'a column that is not there', query: `${steps} | project Vmm`, why: /KS142/ },
];

test.each(refused)('$name is refused, not guessed', ({ query, why }) => {
  expect(() => rowsOf(query)).toThrow(Unsupported);
  expect(() => rowsOf(query)).toThrow(why);
});
