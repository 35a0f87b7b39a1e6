import { expect, test } from 'vitest';
import { answerOf, cases } from './cases/index.ts';
import { kql, textOf } from './pack.ts';
import { problemsOf } from './rules.ts';

/** A query of the pack in which something was replaced. */
function spoilt(query: string, from: string, to: string): string {
  const text = textOf(query);
  if (!text.includes(from)) throw new Error(`${query} does not hold ${from}`);
  return text.replace(from, to);
}

interface Fault {
  readonly fault: string;
  readonly query: string;
  readonly from: string;
  readonly to: string;
  readonly message: string;
}

const faults: readonly Fault[] = [
  {
    fault: 'a column of a table that was renamed',
    query: 'position-gaps',
    from: 'distinct StreamId, Position',
    to: 'distinct StreamId, Place',
    message: "KS142 The name 'Place' does not refer to any known column, table, variable or function.",
  },
  {
    fault: 'a column of a function that was renamed',
    query: 'upcoming',
    from: 'where IsOpen and',
    to: 'where IsPending and',
    message: "KS142 The name 'IsPending' does not refer to any known column, table, variable or function.",
  },
  {
    fault: 'a function that is not there',
    query: 'upcoming',
    from: 'VmEventTimeline(',
    to: 'VmTimeline(',
    message: "KS211 The name 'VmTimeline' does not refer to any known function.",
  },
  {
    fault: 'a join of a kind that is not there',
    query: 'position-gaps',
    from: 'kind = leftouter Latest',
    to: 'kind = leftoutside Latest',
    message: 'KS005 Expected one of: ',
  },
  {
    fault: 'a join that does not say its kind',
    query: 'position-gaps',
    from: 'join kind = leftouter ',
    to: 'join ',
    message: 'a join without its kind drops rows without a word',
  },
  {
    fault: 'a join on a column that one side has not',
    query: 'no-notice',
    from: 'Announced on Event, Vm\n',
    to: 'Announced on Happening, Vm\n',
    message: "KS142 The name 'Happening'",
  },
  {
    fault: 'a number that is compared with a text',
    query: 'position-gaps',
    from: 'Position > Before + 1',
    to: 'Position > "first"',
    message: 'KS106 ',
  },
  {
    fault: 'one argument too many for a function',
    query: 'upcoming',
    from: 'VmEventTimeline(14d)',
    to: 'VmEventTimeline(14d, 1d)',
    message: 'KS119 ',
  },
  {
    fault: 'no argument: how far it looks back',
    query: 'upcoming',
    from: 'VmEventTimeline(14d)',
    to: 'VmEventTimeline()',
    message: 'VmEventTimeline without how far it looks back',
  },
  {
    fault: 'a lookback that the time range of the portal would cut silently',
    query: 'upcoming',
    from: 'VmEventTimeline(14d)',
    to: 'VmEventTimeline(21d)',
    message: 'it does not say: // In the portal, set the time range to 21 days',
  },
  {
    fault: 'a text where a function wants a span of time',
    query: 'upcoming',
    from: 'VmEventTimeline(14d)',
    to: 'VmEventTimeline("14d")',
    message: 'VmEventTimeline has the lookback "14d": write a span of time, as 14d',
  },
  {
    fault: 'two blanks where there is one',
    query: 'upcoming',
    from: '| where IsOpen',
    to: '| where  IsOpen',
    message: 'it is not formatted as Microsoft formats it',
  },
  {
    fault: 'a table that is read without its time',
    query: 'pipeline-latency',
    from: '| where TimeGenerated > ago(1d)\n',
    to: '',
    message: 'the first that it asks of VmLifecycle_CL is not the time',
  },
  {
    fault: 'an expression in distinct',
    query: 'no-notice',
    from: 'summarize by Event, Vm = tolower(Name)',
    to: 'distinct Event, Vm = tolower(Name)',
    message: 'distinct is documented for columns only',
  },
  {
    fault: 'days of the agent of every VM',
    query: 'not-back',
    from: '    | where _ResourceId in~(Ids)\n',
    to: '',
    message: 'it reads hours of the agent of every VM',
  },
  {
    fault: 'a comment where the question should be',
    query: 'upcoming',
    from: 'how, and in how many minutes?',
    to: 'how, and in how many minutes.',
    message: 'it does not open with the question that it answers',
  },
  {
    fault: 'a text that is searched letter by letter',
    query: 'outages-with-warning',
    from: '_ResourceId has ',
    to: '_ResourceId contains ',
    message: 'contains reads every text to its end: has looks up words',
  },
];

const named = <T extends { readonly fault: string }>(all: readonly T[]) =>
  all.map((each) => [each.fault, each] as const);

test.each(named(faults))('found in a query: %s', (_, { query, from, to, message }) => {
  const problems = problemsOf(spoilt(query, from, to), kql);
  expect(problems.filter((problem) => problem.startsWith(message))).not.toEqual([]);
});

test('a query of another service is found', () => {
  const query = '// Which resources are there?\narg("").Resources\n| where type =~ "vm"\n';
  expect(problemsOf(query, kql)).toContain('it reaches into another service');
});

/** These are bound without a complaint, and say something else. */
const wrong: readonly Omit<Fault, 'message'>[] = [
  { fault: 'what another VM had seen announced', query: 'no-notice', from: 'isnull(IsAnnounced) and ', to: '' },
  { fault: 'a host that fails early left out', query: 'no-notice', from: 'IsEarly or ', to: '' },
  { fault: 'approvals counted as early', query: 'notice-given', from: 'isnotnull(ApprovedAt)', to: 'false' },
  { fault: 'only what was seen to begin', query: 'stuck', from: 'coalesce(StartedAt, NotBefore)', to: 'StartedAt' },
  {
    fault: 'the time of the first step',
    query: 'daily-trend',
    from: 'min(FirstSeenAt + (AzureAt - ObservedAt))',
    to: 'min(AzureAt)',
  },
  { fault: 'every copy counted', query: 'pipeline-latency', from: 'min(LatencySeconds)', to: 'max(LatencySeconds)' },
  { fault: 'an end seen days later', query: 'outages-with-warning', from: 'BeginsAt + 6h)', to: 'BeginsAt + 30d)' },
  {
    fault: 'the window of Azure taken for the outage',
    query: 'two-fault-domains-at-once',
    from: 'UpAt = OutageUntil',
    to: 'UpAt = EndedAt',
  },
  {
    fault: 'events that did not begin',
    query: 'blast-radius',
    from: 'isnotnull(BeganAt) and Outcome != "Canceled"',
    to: 'true',
  },
  {
    fault: 'two streams counted as one',
    query: 'pipeline-integrity',
    from: '    StreamId,\n    Event,',
    to: '    Event,',
  },
  {
    fault: 'a lookup that drops VMs without the agent',
    query: 'not-back',
    from: 'leftouter Agents',
    to: 'inner Agents',
  },
  { fault: 'another threshold', query: 'stuck', from: 'ago(30m)', to: 'ago(20m)' },
  { fault: 'what has begun among what is to come', query: 'upcoming', from: ' and isnull(StartedAt)', to: '' },
  {
    fault: 'a comparison of ids as they are spelled',
    query: 'coverage',
    from: 'tolower(_ResourceId)',
    to: '_ResourceId',
  },
  { fault: 'a fault domain beside itself', query: 'two-fault-domains-at-once', from: ') < 0', to: ') <= 0' },
  { fault: 'copies counted as positions', query: 'position-gaps', from: '> Before + 1', to: '>= Before + 1' },
  { fault: 'tests counted', query: 'pipeline-latency', from: 'coalesce(IsTest, false) == false', to: 'Position > 0' },
];

test.each(named(wrong))('a fault that the cases of a query detect: %s', (_, { query, from, to }) => {
  const text = spoilt(query, from, to);
  expect(kql.bind(text).diagnostics).toEqual([]);
  const own = cases.filter((each) => each.query === query);
  expect(own.filter((each) => !isEqual(answerOf(each, text), each.rows))).not.toEqual([]);
});

const isEqual = (lines: readonly string[], others: readonly string[]): boolean =>
  lines.join('\n') === others.join('\n');
