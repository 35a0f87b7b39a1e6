import { RestError } from '@azure/core-rest-pipeline';
import { MessagingError } from '@azure/event-hubs';
import { AggregateLogsUploadError } from '@azure/monitor-ingestion';
import { describe, expect, test } from 'vitest';
import { classify } from '../../src/azure/errors.ts';
import { type Destination, KnownFailure, retry } from '../../src/azure/failure.ts';
import { explainStatus } from '../../src/azure/status-failure.ts';
import { amqpFailure } from '../../src/sinks/event-hubs/amqp-failure.ts';
import { statuses } from '../../src/sinks/log-analytics/statuses.ts';

const destination: Destination = {
  name: 'the event hub vm-lifecycle in x.servicebus.windows.net',
  host: 'x.servicebus.windows.net',
  addressKey: 'sinks.eventHubs.fullyQualifiedNamespace',
  proxy: null,
  sender: 'the identity of this VM',
  grant:
    "the role 'Azure Event Hubs Data Sender' on vm-lifecycle to the identity of this VM (takes effect within 30 min)",
  whatToCheck: 'sinks.eventHubs.eventHubName',
  explain: (detail, to) => explainStatus(statuses)(detail, to) ?? amqpFailure(detail, to),
};

/** As @azure/event-hubs gives them. `retryable` says what it says there, which is not asked. */
function messaging(code: string | undefined, message = 'said by the service', retryable = true): Error {
  return Object.assign(new MessagingError(message), { code, retryable });
}
const system = (code: string): Error =>
  Object.assign(new Error(`connect ${code}`), { code, syscall: 'connect', errno: -1 });
const rest = (statusCode: number, headers: Record<string, string> = {}): RestError => {
  const request = { url: 'https://x', headers: {} } as never;
  const response = { status: statusCode, headers: new Headers(headers), request } as never;
  return new RestError('said by the service', { statusCode, request, response });
};
const upload = (cause: Error): AggregateLogsUploadError =>
  new AggregateLogsUploadError([{ cause, failedLogs: [{ Secret: 'row' }] }]);

const cases: { name: string; error: unknown; verdict: [cause: string, code: string] }[] = [
  {
    name: 'a missing role, which the SDK calls retryable',
    error: messaging('UnauthorizedError'),
    verdict: ['configuration', 'unauthorized'],
  },
  {
    name: 'a hub that is not there',
    error: messaging('MessagingEntityNotFoundError', 'x', false),
    verdict: ['configuration', 'not-found'],
  },
  {
    name: 'amqp:not-found under its odd name',
    error: messaging('ServiceCommunicationError', 'x', false),
    verdict: ['configuration', 'not-found'],
  },
  {
    name: 'a hub switched off',
    error: messaging('MessagingEntityDisabledError', 'x', false),
    verdict: ['configuration', 'disabled'],
  },
  { name: 'throughput units used up', error: messaging('ServerBusyError'), verdict: ['throttled', 'server-busy'] },
  {
    name: 'connections used up, which the SDK calls final',
    error: messaging('QuotaExceededError', 'x', false),
    verdict: ['throttled', 'quota-exceeded'],
  },
  {
    name: 'a message too large',
    error: messaging('MessageTooLargeError', 'x', false),
    verdict: ['too-large', 'message-too-large'],
  },
  { name: 'an argument refused', error: messaging('ArgumentError', 'x', false), verdict: ['poison', 'argument-error'] },
  {
    name: 'an operation refused',
    error: messaging('InvalidOperationError', 'x', false),
    verdict: ['poison', 'invalid-operation'],
  },
  { name: 'no disposition in time', error: messaging('OperationTimeoutError'), verdict: ['transient', 'amqp-timeout'] },
  {
    name: 'com.microsoft:timeout',
    error: messaging('ServiceUnavailableError'),
    verdict: ['transient', 'amqp-timeout'],
  },
  { name: 'no link credit', error: messaging('InsufficientCreditError'), verdict: ['transient', 'no-credit'] },
  { name: 'a link detached', error: messaging('DetachForcedError'), verdict: ['transient', 'link-detached'] },
  {
    name: 'a detach in AMQP words',
    error: { condition: 'amqp:link:detach-forced', description: 'idle' },
    verdict: ['transient', 'link-detached'],
  },
  {
    name: 'an expired token in AMQP words',
    error: { condition: 'amqp:unauthorized-access', description: 'expired' },
    verdict: ['configuration', 'unauthorized'],
  },
  {
    name: 'a connection forced',
    error: messaging('ConnectionForcedError'),
    verdict: ['transient', 'connection-forced'],
  },
  {
    name: 'an unknown condition',
    error: messaging(undefined, 'com.microsoft:new'),
    verdict: ['transient', 'unknown'],
  },
  {
    name: 'a peer that never spoke AMQP',
    error: new Error('Unable to open the amqp connection "c-1" due to operation timeout.'),
    verdict: ['transient', 'connect-timeout'],
  },
  {
    name: 'a client that was closed',
    error: new Error('The underlying AMQP connection is closed.'),
    verdict: ['transient', 'connection-closed'],
  },
  {
    name: 'nothing listening',
    error: Object.assign(messaging(undefined), { code: 'ECONNREFUSED' }),
    verdict: ['transient', 'connection-refused'],
  },
  {
    name: 'nothing listening on both address families',
    error: new AggregateError([system('ECONNREFUSED'), system('ECONNREFUSED')]),
    verdict: ['transient', 'connection-refused'],
  },
  {
    name: 'a name that does not resolve, which the SDK calls final',
    error: Object.assign(messaging(undefined, 'x', false), { code: 'ENOTFOUND' }),
    verdict: ['configuration', 'name-not-found'],
  },
  { name: 'a DNS that is down', error: system('EAI_AGAIN'), verdict: ['transient', 'name-lookup-failed'] },
  { name: 'a reset', error: system('ECONNRESET'), verdict: ['transient', 'connection-reset'] },
  { name: 'no route', error: system('EHOSTUNREACH'), verdict: ['transient', 'no-route'] },
  {
    name: 'an authority not trusted',
    error: system('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
    verdict: ['configuration', 'tls-untrusted'],
  },
  {
    name: 'a self-signed certificate',
    error: system('DEPTH_ZERO_SELF_SIGNED_CERT'),
    verdict: ['configuration', 'tls-untrusted'],
  },
  {
    name: 'an intercepting proxy',
    error: system('SELF_SIGNED_CERT_IN_CHAIN'),
    verdict: ['configuration', 'tls-untrusted'],
  },
  { name: 'an expired certificate', error: system('CERT_HAS_EXPIRED'), verdict: ['configuration', 'tls-expired'] },
  {
    name: 'a certificate of another name',
    error: system('ERR_TLS_CERT_ALTNAME_INVALID'),
    verdict: ['configuration', 'tls-wrong-name'],
  },
  { name: 'a connection without TLS', error: system('EPROTO'), verdict: ['configuration', 'tls-failed'] },
  {
    name: 'a proxy that requires credentials',
    error: new Error('Proxy response (407) !== 200 when HTTP Tunneling'),
    verdict: ['configuration', 'proxy-refused'],
  },
  {
    name: 'a stream that the rule does not have',
    error: upload(
      new RestError('Stream Custom-X was not configured in data collection rule dcr-1.', { statusCode: 400 }),
    ),
    verdict: ['configuration', 'http-400'],
  },
  {
    name: 'a stream that the rule lacks, identified by its code',
    error: upload(new RestError('x', { statusCode: 400, code: 'InvalidStream' })),
    verdict: ['configuration', 'http-400'],
  },
  { name: 'a bad request', error: upload(rest(400)), verdict: ['poison', 'http-400'] },
  { name: 'a missing role on the rule', error: upload(rest(403)), verdict: ['configuration', 'http-403'] },
  { name: 'a body too large', error: upload(rest(413)), verdict: ['too-large', 'http-413'] },
  {
    name: 'a proxy in between that requires credentials',
    error: upload(rest(407)),
    verdict: ['configuration', 'http-407'],
  },
  {
    name: 'a request that could not be sent',
    error: upload(new RestError('x', { code: 'REQUEST_SEND_ERROR' })),
    verdict: ['transient', 'request-failed'],
  },
  {
    name: 'a reset of a request',
    error: upload(new RestError('x', { code: 'ECONNRESET' })),
    verdict: ['transient', 'connection-reset'],
  },
  {
    name: 'an abort',
    error: upload(Object.assign(new Error('aborted'), { name: 'AbortError' })),
    verdict: ['transient', 'aborted'],
  },
  { name: 'a plain error', error: new Error('Unknown error encountered.'), verdict: ['transient', 'unknown'] },
  { name: 'a text', error: 'out of order', verdict: ['transient', 'unknown'] },
  { name: 'nothing', error: undefined, verdict: ['transient', 'unknown'] },
];

describe('the meaning of an error', () => {
  for (const { name, error, verdict } of cases) {
    test(`${name}: ${verdict.join(', ')}`, () => {
      const { cause, code } = classify(error, destination);
      expect([cause, code]).toEqual(verdict);
    });
  }
});

describe('every reason', () => {
  const reasons = cases.map(({ name, error }) => ({ name, reason: classify(error, destination).reason }));
  test('is one finished line without what the SDK leaves undefined', () => {
    for (const { name, reason } of reasons) {
      expect(reason, name).toMatch(/^[A-Z].*[.]$|^x\.servicebus.*[.]$/);
      expect(reason, name).not.toMatch(/undefined|\n|\[object|Secret/);
    }
  });

  test('that needs an operator includes the remedy', () => {
    for (const { name, error } of cases) {
      const failure = classify(error, destination);
      if (failure.cause === 'configuration')
        expect(failure.reason, name).toMatch(/: (grant|check|put|set|renew|where) /);
    }
  });

  test('of a missing role names the role, its scope, and how long a grant takes', () => {
    const { reason } = classify(messaging('UnauthorizedError'), destination);
    expect(reason).toContain("grant the role 'Azure Event Hubs Data Sender' on vm-lifecycle");
    expect(reason).toContain('30 min');
  });

  test('of an unknown authority names tls.caFile', () => {
    expect(classify(system('SELF_SIGNED_CERT_IN_CHAIN'), destination).reason).toContain('tls.caFile');
  });
});

describe('with a proxy before the destination', () => {
  const behind: Destination = { ...destination, proxy: 'proxy:3128' };
  for (const code of ['ECONNREFUSED', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENOTFOUND', 'EAI_AGAIN']) {
    test(`${code} is attributed to the proxy, the only host that was tried`, () => {
      expect(classify(system(code), behind).reason).toMatch(/the proxy proxy:3128|The proxy proxy:3128/);
      expect(classify(system(code), destination).reason).not.toContain('proxy:3128');
    });
  }

  test('a refusal may be its own', () => {
    for (const status of [403, 502])
      expect(classify(upload(rest(status)), behind).reason).toContain('let it allow CONNECT to x.servicebus');
  });

  test('its own refusal names it', () => {
    const refusal = new Error('Proxy response (403) !== 200 when HTTP Tunneling');
    expect(classify(refusal, behind).reason).toMatch(/^The proxy proxy:3128 refuses .* CONNECT to x\.servicebus/);
  });
});

test('a refusal speaks of who it is that sends', () => {
  const byKey = { ...destination, sender: 'the access policy in sinks.eventHubs.connectionString' };
  expect(classify(messaging('UnauthorizedError'), byKey).reason).toMatch(/^The access policy in sinks\.eventHubs\./);
  expect(classify(messaging('UnauthorizedError'), destination).reason).toMatch(/^The identity of this VM may not/);
});

test('a refusal by the firewall of the namespace mentions no role', () => {
  const failure = classify(
    messaging('UnauthorizedError', 'Ip has been prevented to connect to the endpoint.'),
    destination,
  );
  expect(failure).toMatchObject({ cause: 'configuration', code: 'network-refused' });
  expect(failure.reason).not.toContain('grant');
});

describe('an error that holds several', () => {
  test('is found through every wrapper, and the most specific one is used', () => {
    const attempts = new AggregateError([
      messaging('OperationTimeoutError'),
      new AggregateError([messaging('UnauthorizedError')]),
    ]);
    expect(classify(new Error('outer', { cause: attempts }), destination).code).toBe('unauthorized');
  });

  test('is the failure that we classified, however deep it is nested', () => {
    const known = new KnownFailure(retry('throttled', 'token-throttled', 'x', 5));
    const wrapped = new AggregateError([messaging('UnauthorizedError'), new Error('x', { cause: known })]);
    expect(classify(wrapped, destination)).toBe(known.failure);
  });

  test('with a circular cause is read once', () => {
    const error = new Error('loop');
    error.cause = error;
    expect(classify(error, destination).code).toBe('unknown');
  });
});

describe('Retry-After', () => {
  const now = new Date('2026-03-14T09:00:00.000Z');
  const waits: { header: string; ms: number | undefined }[] = [
    { header: '7', ms: 7000 },
    { header: '3600', ms: 3_600_000 },
    { header: 'Sat, 14 Mar 2026 09:00:30 GMT', ms: 30_000 },
    { header: 'Sat, 14 Mar 2026 08:00:00 GMT', ms: 0 },
    { header: 'soon', ms: undefined },
    { header: '', ms: undefined },
  ];
  for (const { header, ms } of waits) {
    test(`"${header}" requests ${ms ?? 'no'} ms`, () => {
      const failure = classify(upload(rest(429, { 'retry-after': header })), destination, now);
      expect('retryAfterMs' in failure ? failure.retryAfterMs : undefined).toBe(ms);
    });
  }
});
