import { expect, test } from 'vitest';
import { openKql } from './index.ts';

const kql = openKql();

test('a transformation that passes everything on is allowed', () => {
  expect(kql.checkTransform('source')).toEqual([]);
});

test('a transformation may filter, calculate and convert', () => {
  const query = `source
    | where EventType != 'Freeze' and isnotempty(VmName) and ObserverAffected
    | extend Changes = parse_json('[]'), Description = iif(strlen(Description) > 100, substring(Description, 0, 100), Description)
    | project-away RawEvent`;
  expect(kql.checkTransform(query)).toEqual([]);
});

test.each([
  {
    fault: 'summarize',
    query: 'source | summarize take_any(EventType) by TimeGenerated',
    message: 'summarize is not available',
  },
  {
    fault: 'a join',
    query: 'source | join kind=inner source on RecordId | project TimeGenerated',
    message: 'join is not available',
  },
  { fault: 'mv-expand', query: 'source | mv-expand Evidence', message: 'mvexpand is not available' },
  { fault: 'coalesce', query: `source | extend Zone = coalesce(Zone, 'none')`, message: 'coalesce() is not available' },
  { fault: 'iff', query: `source | extend Zone = iff(true, 'a', 'b')`, message: 'iff() is not available: use iif()' },
  {
    fault: 'a dynamic literal',
    query: 'source | extend Tags = dynamic({})',
    message: 'dynamic() is not available: use parse_json() of the text',
  },
  { fault: 'a toscalar', query: 'source | extend Repeat = toscalar(print 1)', message: 'toscalar is not available' },
  { fault: 'between', query: 'source | where Repeat between (0 .. 3)', message: 'between is not available' },
  { fault: 'hasprefix', query: `source | where EventId hasprefix 'a'`, message: 'hasprefix is not available' },
  {
    fault: 'a column that is not in the table',
    query: 'source | extend Extra = 1',
    message: 'the table has no column Extra',
  },
  {
    fault: 'a column of another type',
    query: 'source | extend Zone = 1',
    message: 'Zone is long, but string in the table',
  },
  {
    fault: 'an output without its time',
    query: 'source | project EventType',
    message: 'the output has no TimeGenerated of type datetime',
  },
  {
    fault: 'eleven columns parsed at once',
    query: `source | parse Description with ${Array.from({ length: 11 }, (_, n) => `'${n}=' c${n}`).join(' ')} | project TimeGenerated`,
    message: 'parse into 11 columns: at most 10 are allowed, so split it',
  },
])('a transformation with $fault is refused', ({ query, message }) => {
  expect(kql.checkTransform(query)).toContain(message);
});

test('a transformation of a column that is not sent is reported by the language service', () => {
  expect(kql.checkTransform('source | where EvntType == 1')[0]).toMatch(/^KS142: /);
});

test('an alert on single rows may filter one table', () => {
  const query = `VmLifecycle_CL | where EventType in ('Reboot', 'Redeploy') and ObservedAt > ago(30m) and not_a_column`;
  expect(kql.checkSimpleAlert(query.replace(' and not_a_column', ''))).toEqual([]);
  expect(kql.checkSimpleAlert(query)[0]).toMatch(/^KS142: /);
});

test.each([
  {
    fault: 'a let',
    query: `let wanted = 'Reboot'; VmLifecycle_CL | where EventType == wanted`,
    message: 'let is not available',
  },
  { fault: 'a count', query: 'VmLifecycle_CL | count', message: 'count is not available' },
  { fault: 'a print', query: 'print TimeGenerated = now()', message: 'print is not available' },
  { fault: 'a datatable', query: 'datatable(a:long)[1]', message: 'datatable is not available' },
])('an alert on single rows with $fault is refused', ({ query, message }) => {
  expect(kql.checkSimpleAlert(query)).toContain(message);
});

test('an alert on single rows cannot call a stored function', () => {
  const stored = openKql({ functions: [{ name: 'VmAll', parameters: '', body: 'VmLifecycle_CL' }] });
  expect(stored.checkSimpleAlert('VmAll() | where EventType == "Reboot"')).toEqual([
    'a function of the workspace is not available: write its query out',
  ]);
});
