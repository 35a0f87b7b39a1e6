import { describe, expect, test } from 'vitest';
import { type HttpReply, readError } from '../../../../infra/acceptance/data/post.ts';
import {
  answerDifferences,
  answerOf,
  audienceCases,
  oversizedCases,
  type RefusalAnswer,
  rowCases,
  streamCases,
  verdictBy,
  wrongMeanings,
} from '../../../../infra/acceptance/data/refusal-cases.ts';
import { rowDifferences } from '../../../../infra/acceptance/data/refusal-steps.ts';

const logs = {
  endpoint: 'https://x.westeurope-1.ingest.monitor.azure.com',
  ruleId: 'dcr-00000000000000000000000000000000',
  streamName: 'Custom-VmLifecycle_CL',
};
const hub = {
  endpoint: 'https://x.servicebus.windows.net',
  eventHubName: 'vm-lifecycle',
  fullyQualifiedNamespace: 'x.servicebus.windows.net',
  connectionString: null,
};

describe('the error in an answer', () => {
  test('of Logs Ingestion is read as in the documentation of its client', () => {
    // https://github.com/Azure/azure-sdk-for-js/blob/main/sdk/monitor/monitor-ingestion/TROUBLESHOOTING.md
    const body =
      '{"error":{"code":"OperationFailed","message":"The authentication token provided does not have access to ingest data for the data collection rule with immutable Id \'dcr-1\' PipelineAccessResult: AccessGranted: False, IsRbacPresent: False, IsDcrDceBindingValid: , DcrArmId: /subscriptions/s"}}';
    expect(readError(body)).toEqual({
      code: 'OperationFailed',
      message: expect.stringContaining('DcrArmId: /subscriptions/s'),
    });
  });

  test('of Event Hubs is read from XML', () => {
    // https://learn.microsoft.com/rest/api/eventhub/send-event
    expect(readError('<Error><Code>401</Code><Detail>MissingToken: The header is missing.</Detail></Error>')).toEqual({
      code: '401',
      message: 'MissingToken: The header is missing.',
    });
  });

  test('of anything else is its text', () => {
    expect(readError('')).toEqual({ code: null, message: '' });
    expect(readError('<html>502</html>')).toEqual({ code: null, message: '<html>502</html>' });
    expect(readError('{"ok":true}')).toEqual({ code: null, message: '{"ok":true}' });
  });
});

const reply = (status: number, code: string | null = null, headers = {}): HttpReply => ({
  status,
  code,
  message: '',
  headers,
});
const answered = (id: string, given: HttpReply): RefusalAnswer =>
  answerOf({ id, what: id, to: 'logs' }, given, { logs });

describe('what the bridge makes of an answer of the rule', () => {
  test.for([
    { given: reply(204), cause: 'accepted' },
    { given: reply(400, 'InvalidStream'), cause: 'configuration' },
    { given: reply(400, 'InvalidFormat'), cause: 'poison' },
    { given: reply(401, 'InvalidToken'), cause: 'configuration' },
    { given: reply(403, 'OperationFailed'), cause: 'configuration' },
    { given: reply(404, 'NotFound'), cause: 'configuration' },
    { given: reply(413, 'ContentLengthLimitExceeded'), cause: 'too-large' },
    { given: reply(429, null, { 'retry-after': '30' }), cause: 'throttled' },
    { given: reply(503), cause: 'transient' },
    { given: { ...reply(0), message: 'read ECONNRESET' }, cause: 'transient' },
  ])('is $cause after $given.status $given.code', ({ given, cause }) => {
    expect(answered('x', given).meaning?.cause).toBe(cause);
  });

  test('is reported where it is wrong, with the answer', () => {
    const cases = streamCases.filter(({ id }) => id === 'wrong-stream');
    expect(wrongMeanings(cases, [answered('wrong-stream', reply(400, 'InvalidStream'))])).toEqual([]);
    expect(wrongMeanings(cases, [answered('wrong-stream', reply(400, 'InvalidPayload'))])).toEqual([
      'After a stream that the rule does not have (400 InvalidPayload) the bridge takes the failure for poison; expected was configuration.',
    ]);
  });
});

describe('answers of Azure and of the simulator', () => {
  const simulated = [answered('wrong-type', reply(400, 'InvalidRecord')), answered('plain', reply(204))];

  test('are equal when only their words differ', () => {
    const actual = [{ ...answered('wrong-type', reply(400, 'InvalidRecord')), message: 'other words' }];
    expect(answerDifferences(actual, simulated)).toEqual([]);
  });

  test('differ by status, code and Retry-After', () => {
    expect(answerDifferences([answered('wrong-type', reply(204))], simulated)).toEqual([
      'To wrong-type Azure answers 204, the simulator 400 InvalidRecord.',
    ]);
    expect(answerDifferences([answered('plain', reply(204, null, { 'retry-after': '5' }))], simulated)).toEqual([
      'To plain Azure answers 204 with Retry-After: 5, the simulator 204.',
    ]);
    expect(answerDifferences([answered('plain', { ...reply(0), message: 'socket hang up' })], simulated)).toEqual([
      'To plain Azure answers nothing (socket hang up), the simulator 204.',
    ]);
    expect(answerDifferences([answered('new', reply(204))], simulated)).toEqual([
      'The simulator was not asked about new.',
    ]);
  });

  test('differ by what the table made of a row', () => {
    const row = { Id: 'long-field', Length: 65536 };
    expect(rowDifferences([row], [row])).toEqual([]);
    expect(rowDifferences([{ ...row, Length: 32766 }], [row])).toEqual([
      'Length of the row long-field is 32766 in Azure, 65536 in the simulator.',
    ]);
    expect(rowDifferences([], [row])).toEqual([
      'The row long-field is in the table of the simulator and not in that of Azure.',
    ]);
  });
});

test('every case has an id of its own, and requests are as large as they say', () => {
  const cases = [...rowCases, ...streamCases, ...audienceCases, ...oversizedCases];
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  const sizes = cases.map(
    ({ id, request }) => [id, Buffer.byteLength(request({ logs, hub, mark: 'acceptance-x' }).body)] as const,
  );
  const sizeOf = (id: string): number => sizes.find(([name]) => name === id)?.[1] ?? 0;
  expect(sizeOf('oversized-call')).toBeGreaterThan(1_048_576);
  expect(sizeOf('oversized-message')).toBeGreaterThan(1_048_576);
  expect(sizeOf('oversized-unpacked')).toBeLessThan(10_000);
  expect(sizeOf('long-field')).toBeGreaterThan(65_536);
  expect(sizeOf('long-field')).toBeLessThan(1_048_576);
});

test.for([
  { statuses: [204], holds: true, roles: true, verdict: 'proven' },
  { statuses: [400], holds: false, roles: true, verdict: 'refuted' },
  { statuses: [400, 429], holds: false, roles: true, verdict: null },
  { statuses: [503], holds: false, roles: true, verdict: null },
  { statuses: [403], holds: false, roles: true, verdict: null },
  { statuses: [403], holds: false, roles: false, verdict: 'refuted' },
  { statuses: [401], holds: true, roles: false, verdict: 'proven' },
] as const)('answers with status $statuses give the verdict $verdict', ({ statuses, holds, roles, verdict }) => {
  expect(
    verdictBy(
      statuses.map((status) => ({ status })),
      holds,
      { roles },
    ),
  ).toBe(verdict);
});
