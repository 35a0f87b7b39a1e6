import { expect, test } from 'vitest';
import { type ImdsSeen, imdsFindings } from '../../../src/cli/check/imds.ts';
import { observerFrom } from '../../../src/imds/instance.ts';
import type { Observer, ScheduledEvent } from '../../../src/lifecycle/scheduled-event.ts';
import { linux, windows } from '../../../src/operating-system.ts';
import { linuxWords } from '../../support/linux-words.ts';

const alone = observerFrom({ vmId: 'V1', vmName: 'web_3', resourceGroup: 'rg' }, {}, {}) as Observer;
const inSet: Observer = { ...alone, vmScaleSetName: 'web' };
const event = (resources: string[] | null): ScheduledEvent => ({
  eventId: 'e',
  eventStatus: 'Scheduled',
  eventType: 'Freeze',
  resourceType: 'VirtualMachine',
  resources,
  notBefore: null,
  description: null,
  eventSource: null,
  durationSeconds: null,
  raw: {},
});
const seen = (events: readonly ScheduledEvent[], unreadable = 0): ImdsSeen['seen'] => ({
  kind: 'document',
  document: { incarnation: 7, events, unreadable },
  imdsApiVersion: '2020-07-01',
  azureTime: null,
  clockOffsetSeconds: 0,
});
const nothing = (code: string) => ({ kind: 'unavailable', code, reason: 'Why.', retryAfterMs: null }) as const;
const whole: ImdsSeen = {
  answer: { kind: 'metadata', metadata: {}, apiVersion: '2023-11-15' },
  endpoint: 'http://169.254.169.254',
  apiVersion: '2020-07-01',
  vm: inSet,
  isNameConfigured: false,
  stored: null,
  seen: seen([]),
  witnessRate: 0,
  system: linux,
};
const many = Array.from({ length: 7 }, (_, index) => event([`web_${index}`]));

const rows: readonly {
  name: string;
  with: Partial<ImdsSeen>;
  what: string;
  verdict: string;
  message: RegExp;
  remedy?: RegExp;
}[] = [
  { name: 'it answers', with: {}, what: 'imds.instance', verdict: 'ok', message: /2023-11-15.*web_3, vmId V1\.$/ },
  {
    name: 'it has no name of this VM',
    with: { vm: null },
    what: 'imds.instance',
    verdict: 'problem',
    message: /observer\.vmId/,
  },
  {
    name: 'it is missing',
    with: { answer: nothing('no-route'), vm: null, endpoint: 'auto' },
    what: 'imds.instance',
    verdict: 'problem',
    message: /^Why\.$/,
    remedy: /^curl .*http:\/\/169\.254\.169\.254\/metadata/,
  },
  {
    name: 'it is missing, and the configuration names this VM',
    with: { answer: nothing('no-route'), vm: alone, isNameConfigured: true },
    what: 'imds.instance',
    verdict: 'warning',
    message:
      /^Why\. The service uses observer\.vmName and observer\.vmId of the configuration: this VM is web_3, vmId V1\.$/,
    remedy: /^curl .*\/metadata\/instance\?api-version=2023-11-15"$/,
  },
  {
    name: 'it is missing, and only the outbox names this VM',
    with: { answer: nothing('no-route'), vm: alone, stored: alone },
    what: 'imds.instance',
    verdict: 'problem',
    message: /^Why\.$/,
    remedy: /^curl /,
  },
  {
    name: 'documents are not answered',
    with: { seen: nothing('timeout'), endpoint: 'http://127.0.0.1:8080/vm/web_3/', apiVersion: '2019-08-01' },
    what: 'imds.document',
    verdict: 'problem',
    message: /^Why\.$/,
    remedy: /^curl .*"http:\/\/127\.0\.0\.1:8080\/vm\/web_3\/metadata\/scheduledevents\?api-version=2019-08-01"$/,
  },
  {
    name: 'the proxy agent refuses',
    with: { seen: nothing('http-403') },
    what: 'imds.document',
    verdict: 'problem',
    message: /^Why\.$/,
    remedy: /^az vm show .*--name web_3 --query securityProfile\.proxyAgentSettings$/,
  },
  {
    name: 'the disk is a copy of that of another VM',
    with: { stored: { ...alone, vmId: 'V0', vmName: 'web_0' } },
    what: 'imds.instance',
    verdict: 'warning',
    message: /outbox is that of web_0, vmId V0, as on a copied disk/,
  },
  {
    name: 'the stored id is spelled otherwise',
    with: { stored: { ...alone, vmId: 'v1' } },
    what: 'imds.instance',
    verdict: 'ok',
    message: /./,
  },
  {
    name: 'a document',
    with: { seen: seen([event(['web_3'])]) },
    what: 'imds.document',
    verdict: 'ok',
    message: /2020-07-01: incarnation 7, 1 event\.$/,
  },
  {
    name: 'an entry without an id',
    with: { seen: seen([], 2) },
    what: 'imds.document',
    verdict: 'warning',
    message: /2 more cannot be read/,
  },
  {
    name: 'no VM is named',
    with: {},
    what: 'imds.names',
    verdict: 'ok',
    message: /lists no events; this VM is web_3/,
  },
  {
    name: 'we are named',
    with: { seen: seen([event(['WEB_3', 'web_4'])]) },
    what: 'imds.names',
    verdict: 'ok',
    message: /^Freeze Scheduled of WEB_3, web_4 \(this VM\)\. The name of this VM is web_3\.$/,
  },
  {
    name: 'a neighbour is named',
    with: { seen: seen([event(['web_30'])]) },
    what: 'imds.names',
    verdict: 'ok',
    message: /of web_30\. The name of this VM/,
  },
  {
    name: 'many events',
    with: { seen: seen(many) },
    what: 'imds.names',
    verdict: 'ok',
    message: /web_4; and 2 more\./,
  },
  {
    name: 'a VM outside of any set is shown another name',
    with: { vm: alone, seen: seen([event(['web_30'])]) },
    what: 'imds.names',
    verdict: 'warning',
    message: /names should be its own.*observer\.vmName/,
  },
  {
    name: 'names that cannot be read prove nothing',
    with: { vm: alone, seen: seen([event(null)]) },
    what: 'imds.names',
    verdict: 'ok',
    message: /of no VM/,
  },
  {
    name: 'we do not know our name',
    with: { vm: null, seen: seen([event(['web_30'])]) },
    what: 'imds.names',
    verdict: 'not-proven',
    message: /names web_30\.$/,
  },
  {
    name: 'there is no document',
    with: { seen: nothing('timeout') },
    what: 'imds.names',
    verdict: 'not-proven',
    message: /no document/,
  },
  {
    name: 'a scale set',
    with: {},
    what: 'imds.neighbours',
    verdict: 'ok',
    message: /VMs of a placement group of the scale set web receive .*witnessRate is 0/,
  },
  {
    name: 'a scale set whose VMs witness',
    with: { witnessRate: 0.1 },
    what: 'imds.neighbours',
    verdict: 'ok',
    message: /a share of 0\.1/,
  },
  {
    name: 'the VM has no neighbours',
    with: { vm: alone },
    what: 'imds.neighbours',
    verdict: 'ok',
    message: /^No other VM can report the events of this VM/,
  },
  {
    name: 'it is missing, so a scale set is unknown',
    with: { answer: nothing('no-route'), vm: alone, isNameConfigured: true },
    what: 'imds.neighbours',
    verdict: 'not-proven',
    message: /^The instance metadata is missing/,
  },
  {
    name: 'the VM has no neighbours, and a share is set',
    with: { vm: alone, witnessRate: 0.1 },
    what: 'imds.neighbours',
    verdict: 'warning',
    message: /Then scope\.witnessRate has no effect/,
  },
];

test.for(rows)('the finding about the metadata service: $name', ({ with: given, what, verdict, message, remedy }) => {
  const found = imdsFindings({ ...whole, ...given }).find((one) => one.what === what);
  expect(found).toMatchObject({ verdict, message: expect.stringMatching(message) });
  if (remedy) expect(found?.remedy).toMatch(remedy);
  else expect(found?.remedy).toBeUndefined();
  expect(JSON.stringify(imdsFindings({ ...whole, ...given, system: windows }))).not.toMatch(linuxWords);
});
