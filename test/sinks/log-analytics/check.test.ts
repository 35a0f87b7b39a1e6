import { expect, test } from 'vitest';
import { networkPathTo } from '../../../src/check/connectivity.ts';
import { type WriteSeen, writeFindings } from '../../../src/sinks/log-analytics/check.ts';
import { destinationOf } from '../../../src/sinks/log-analytics/config.ts';
import { sampleEntry } from '../../support/sample-record.ts';

const ruleId = `dcr-${'0'.repeat(32)}`;
const config = { endpoint: 'https://x.ingest.monitor.azure.com', ruleId, streamName: 'Custom-VmLifecycle_CL' };
const ruleResource = '/subscriptions/s/resourceGroups/rg/providers/Microsoft.Insights/dataCollectionRules/bridge';

function found(what: string, more: Partial<WriteSeen> = {}) {
  const verdict = { ok: true, code: 'ok', detail: 'x' };
  const whole = { config, to: destinationOf(config), verdict, isReachable: true, objectId: 'oid', vm: null };
  return writeFindings({ ...whole, write: false, probe: null, ...more }).find((one) => one.what === what);
}
const refusal = (code: string, said = '') => ({ verdict: { ok: false, code, detail: 'Why.', said } });
const assign =
  'az role assignment create --role "Monitoring Metrics Publisher" --assignee-object-id oid --assignee-principal-type ServicePrincipal --scope';
const denied = `{"error":{"code":"OperationFailed","message":"… AccessGranted: False, IsRbacPresent: False, IsDcrDceBindingValid: , DcrArmId: ${ruleResource}, Message: …"}}`;

test.for([
  {
    name: 'nothing was refused',
    more: {},
    verdict: 'not-proven',
    message: /probably may write .*check --write/,
    remedy: undefined,
  },
  {
    name: 'there is no token',
    more: refusal('token-timeout'),
    verdict: 'not-proven',
    message: /identity\.token/,
    remedy: undefined,
  },
  {
    name: 'the way is closed',
    more: { ...refusal('x'), isReachable: false },
    verdict: 'not-proven',
    message: /there is no connection/,
    remedy: undefined,
  },
  {
    name: 'the role is missing',
    more: refusal('http-403'),
    verdict: 'problem',
    message: /Why/,
    remedy: `${assign} "$(az rest --method get --url "/subscriptions/<subscription>/providers/Microsoft.Insights/dataCollectionRules?api-version=2024-03-11" --query "value[?properties.immutableId=='${ruleId}'].id" --output tsv)"`,
  },
  {
    name: 'the role is missing, and the service names the rule',
    more: refusal('http-403', denied),
    verdict: 'problem',
    message: /Why/,
    remedy: `${assign} "${ruleResource}"`,
  },
])('the right to write to Log Analytics: $name', ({ more, verdict, message, remedy }) => {
  const right = found('logAnalytics.write', more);
  expect(right).toMatchObject({ verdict, message: expect.stringMatching(message) });
  expect(right?.remedy).toBe(remedy);
});

test('an endpoint of another rule needs no role, but the right endpoint', () => {
  const said = denied.replace('IsDcrDceBindingValid: ,', 'IsDcrDceBindingValid: False,');
  expect(found('logAnalytics.write', refusal('http-403', said))?.remedy).toMatch(/^az rest .*dataCollectionRules/);
});

test('only an accepted row verifies permission and columns, and even that not all columns', () => {
  const entry = sampleEntry();
  const accepted = { write: true, probe: { entry, result: { kind: 'delivered' } } } as const;
  expect(found('logAnalytics.write', accepted)).toMatchObject({ verdict: 'ok' });
  expect(found('logAnalytics.columns', accepted)).toMatchObject({
    verdict: 'ok',
    remedy: expect.stringContaining(`"VmLifecycle_CL | where RecordId == '${entry.record.recordId}'"`),
  });
  expect(found('logAnalytics.columns')).toMatchObject({
    verdict: 'not-proven',
    message: expect.stringMatching(/--write/),
  });
  expect(found('logAnalytics.probe')).toBeUndefined();
});

test('a row that the rule finds malformed is a problem, and verifies no column', () => {
  const result = { kind: 'rejected', cause: 'poison', code: 'http-400', reason: 'Malformed.' } as const;
  const refused = { write: true, probe: { entry: sampleEntry(), result } };
  expect(found('logAnalytics.probe', refused)).toMatchObject({ verdict: 'problem', message: 'Malformed.' });
  expect(found('logAnalytics.columns', refused)).toMatchObject({ verdict: 'not-proven' });
});

test('the way to Log Analytics is that of its endpoint', () => {
  expect(networkPathTo(config.endpoint)).toMatchObject({ host: 'x.ingest.monitor.azure.com', port: 443, tls: true });
});
