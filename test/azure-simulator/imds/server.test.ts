import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createErrorLog } from '../../../src/azure-simulator/errors.ts';
import { type ImdsSimulator, startImds } from '../../../src/azure-simulator/imds/server.ts';
import { createTokenIssuer, type TokenIssuer } from '../../../src/azure-simulator/token-issuer.ts';

const log = createErrorLog();
let issuer: TokenIssuer;
let imds: ImdsSimulator;
let close: () => Promise<void>;
const start = async (): Promise<void> => {
  ({ imds, close } = await startImds({ issuer, log, vms: [{ name: 'web_0' }, { name: 'web_1' }] }));
};
beforeAll(async () => {
  issuer = await createTokenIssuer();
});
beforeEach(async () => {
  await close?.();
  await start();
});
afterAll(async () => {
  await close();
  expect(log.errors).toEqual([]);
});

const events = '/metadata/scheduledevents?api-version=2020-07-01';
const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${imds.url}${path}`, { headers: { Metadata: 'true' }, ...init });
const approve = (body: string, vm = 'web_0'): Promise<Response> => get(`/vm/${vm}${events}`, { method: 'POST', body });

describe('the simulated scheduled events', () => {
  const refused: [why: string, path: string, init: RequestInit, status: number][] = [
    ['without the Metadata header', events, { headers: {} }, 400],
    ['with the Metadata header false', events, { headers: { Metadata: 'false' } }, 400],
    ['that came through a proxy', events, { headers: { Metadata: 'true', 'X-Forwarded-For': '10.0.0.1' } }, 400],
    ['without api-version', '/metadata/scheduledevents', {}, 400],
    ['with an unknown api-version', '/metadata/scheduledevents?api-version=latest', {}, 400],
    ['by another method', events, { method: 'DELETE' }, 405],
    ['of an unknown path', '/metadata/nothing', {}, 404],
  ];
  test.each(refused)('a request %s is refused', async (_, path, init, status) => {
    expect((await get(path, init)).status).toBe(status);
  });

  test('the preview version requires no header', async () => {
    expect((await get('/metadata/scheduledevents?api-version=2017-03-01', { headers: {} })).status).toBe(200);
  });

  test('all VMs of the group see one document, and each poll is counted for its VM', async () => {
    const eventId = imds.schedule({ eventType: 'Freeze', resources: ['web_1'] });
    const [one, other, unprefixed] = await Promise.all(
      [`/vm/web_1${events}`, `/vm/web_9${events}`, events].map(async (path) => (await get(path)).json()),
    );
    expect(one).toEqual(imds.document);
    expect(other).toEqual(one);
    expect(unprefixed).toEqual(one);
    expect(one).toMatchObject({ DocumentIncarnation: 2, Events: [{ EventId: eventId, Resources: ['web_1'] }] });
    expect(imds.polls).toEqual({ web_0: 1, web_1: 1, web_9: 1 });
    expect(imds.requests('scheduledevents')).toBe(3);
    expect(imds.requests('scheduledevents', 'web_1')).toBe(1);
    expect(imds.vms.map(({ name }) => name)).toEqual(['web_0', 'web_1', 'web_9']);
  });

  test('an answer carries the time of Azure, which may differ from ours', async () => {
    imds.shiftDate(-3_600_000);
    const date = Date.parse((await get(events)).headers.get('date') ?? '');
    expect(Math.abs(date - (Date.now() - 3_600_000))).toBeLessThan(60_000);
  });

  test('a VM whose clock is slow gets a Date that is ahead of it', async () => {
    imds.addVm({ name: 'web_1', clockOffsetSeconds: 7200 });
    const date = Date.parse((await get(`/vm/web_1${events}`)).headers.get('date') ?? '');
    expect(Math.abs(date - (Date.now() + 7_200_000))).toBeLessThan(60_000);
  });

  test('a VM that sends too many requests is refused on every path, and its neighbour is not', async () => {
    imds.limitRate(2);
    const asked = ['web_0', 'web_0', 'web_0', 'web_1'].map((vm) =>
      get(`/vm/${vm}/metadata/instance?api-version=2023-11-15`),
    );
    const answers = await Promise.all(asked);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429]);
    expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('1');
  });

  test('a feature that was turned off counts from one again and answers late', async () => {
    imds.schedule({ eventType: 'Freeze', resources: ['web_0'] });
    imds.firstCallDelay(80);
    imds.switchOff();
    const begun = performance.now();
    expect(await (await get(events)).json()).toMatchObject({ DocumentIncarnation: 1, Events: [{}] });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(75);
  });

  test('an ETag is sent only on request, and 304 only while the list is the same', async () => {
    expect((await get(events)).headers.get('etag')).toBeNull();
    imds.offerEtag(true);
    const tag = (await get(events)).headers.get('etag') ?? '';
    const again = { headers: { Metadata: 'true', 'If-None-Match': tag } };
    expect((await get(events, again)).status).toBe(304);
    imds.schedule({ eventType: 'Freeze', resources: ['web_0'] });
    expect((await get(events, again)).status).toBe(200);
  });

  test('an approval by any VM starts the event, and may be repeated', async () => {
    const eventId = imds.schedule({ eventType: 'Reboot', resources: ['web_1'] });
    const body = JSON.stringify({ StartRequests: [{ EventId: eventId }] });
    expect((await approve(body)).status).toBe(200);
    expect(imds.document).toMatchObject({
      DocumentIncarnation: 3,
      Events: [{ EventStatus: 'Started', NotBefore: '' }],
    });
    expect((await approve(body, 'web_1')).status).toBe(200);
    expect(imds.document.DocumentIncarnation).toBe(3);
    imds.remove(eventId);
    expect((await approve(body)).status).toBe(200);
    expect(imds.approvals.map(({ vm, eventId: id }) => [vm, id])).toEqual([
      ['web_0', eventId],
      ['web_1', eventId],
    ]);
    expect(imds.issued.map(({ step }) => step)).toEqual(['scheduled', 'started', 'removed']);
  });

  test('a VM that sees its own events only cannot approve those of others', async () => {
    imds.addVm({ name: 'web_1', sees: 'own' });
    const eventId = imds.schedule({ eventType: 'Reboot', resources: ['web_0'] });
    const body = JSON.stringify({ StartRequests: [{ EventId: eventId }] });
    expect((await approve(body, 'web_1')).status).toBe(400);
    expect(imds.approvals).toEqual([]);
    expect((await approve(body, 'web_0')).status).toBe(200);
  });

  test('several events may be approved at once', async () => {
    const ids = ['A', 'B'].map((eventId) => imds.schedule({ eventId, eventType: 'Freeze', resources: ['web_0'] }));
    await approve(JSON.stringify({ StartRequests: ids.map((EventId) => ({ EventId })) }));
    expect(imds.document.Events.map(({ EventStatus }) => EventStatus)).toEqual(['Started', 'Started']);
    expect(imds.document.DocumentIncarnation).toBe(4);
  });

  test.each([
    '',
    'no json',
    '[]',
    '{}',
    '{"StartRequests":[]}',
    '{"StartRequests":[{}]}',
    '{"StartRequests":[{"EventId":"never-seen"}]}',
  ])('a malformed approval is refused: %j', async (body) => {
    imds.schedule({ eventId: 'A', eventType: 'Freeze', resources: ['web_0'] });
    expect((await approve(body)).status).toBe(400);
    expect(imds.document.DocumentIncarnation).toBe(2);
  });
});

describe('the simulated instance metadata', () => {
  test('a VM is described by what it was defined with', async () => {
    imds.addVm({ name: 'db', zone: '3', tags: { owner: 'me' }, priority: 'Spot' });
    const answer = await get('/vm/db/metadata/instance?api-version=2023-11-15');
    expect(await answer.json()).toMatchObject({
      compute: {
        name: 'db',
        zone: '3',
        priority: 'Spot',
        physicalZone: 'westeurope-az2',
        vmScaleSetName: '',
        tagsList: [{ name: 'owner', value: 'me' }],
        storageProfile: { imageReference: { publisher: 'Canonical', version: '24.04.202504080' } },
      },
    });
  });

  test('an older host lists its newest versions and has fewer fields', async () => {
    imds.knowInstanceVersions(['2019-06-04', '2020-12-01', '2021-02-01', '2021-05-01']);
    const unknown = await get('/metadata/instance?api-version=2023-11-15');
    expect(unknown.status).toBe(400);
    expect(await unknown.json()).toMatchObject({ 'newest-versions': ['2021-05-01', '2021-02-01', '2020-12-01'] });
    const known = (await (await get('/metadata/instance?api-version=2021-02-01')).json()) as { compute: object };
    expect(known.compute).not.toHaveProperty('physicalZone');
    expect(known.compute).toHaveProperty('vmScaleSetName', 'web');
    expect(await (await get('/metadata/versions')).json()).toEqual({
      apiVersions: ['2017-03-01', '2019-06-04', '2020-12-01', '2021-02-01', '2021-05-01'],
    });
  });

  /** As the table of the document says: each version with the fields of `compute` that appeared in it. */
  const appeared: readonly (readonly [version: string, fields: readonly string[]])[] = [
    ['2017-08-01', ['placementGroupId', 'resourceGroupName', 'subscriptionId', 'tags']],
    ['2017-12-01', ['vmScaleSetName', 'zone']],
    ['2018-10-01', ['azEnvironment', 'provider']],
    ['2019-03-11', ['resourceId']],
    ['2019-06-01', ['storageProfile']],
    ['2019-06-04', ['tagsList']],
    ['2020-12-01', ['priority']],
    ['2021-03-01', ['virtualMachineScaleSet']],
    ['2023-11-15', ['physicalZone']],
  ];
  test('every published version is supported with the fields that it has', async () => {
    const { apiVersions } = (await (await get('/metadata/versions')).json()) as { apiVersions: string[] };
    expect(apiVersions).toEqual([...apiVersions].sort());
    expect(apiVersions).toEqual(expect.arrayContaining(['2017-04-02', '2019-08-01', '2019-08-15', '2025-04-07']));
    expect(apiVersions).toHaveLength(35);
    for (const version of apiVersions.slice(1)) {
      const { compute } = (await (await get(`/metadata/instance?api-version=${version}`)).json()) as {
        compute: object;
      };
      for (const [since, fields] of appeared) {
        for (const field of fields)
          expect([version, field, field in compute]).toEqual([version, field, version >= since]);
      }
    }
  });

  test.each([
    ['/compute/name', 200, 'web_0'],
    ['/compute/tags', 200, ''],
    ['/network/interface/0/ipv4/ipAddress/0/privateIpAddress', 200, '10.0.0.4'],
    ['/', 200, 'compute/\nnetwork/'],
    ['/network/interface/0/', 200, 'ipv4/\nipv6/\nmacAddress'],
    ['/compute/nothing', 404, expect.stringContaining('error')],
    ['/compute/name/more', 404, expect.stringContaining('error')],
    ['/compute/toString', 404, expect.stringContaining('error')],
    ['/compute/%zz', 404, expect.stringContaining('error')],
  ])('the text at %s: %i', async (part, status, text) => {
    const answer = await get(`/metadata/instance${part}?api-version=2019-08-01&format=text`);
    expect([answer.status, await answer.text()]).toEqual([status, text]);
  });

  test('an object is answered as JSON, a single value only as text', async () => {
    const part = (path: string, format = ''): Promise<Response> =>
      get(`/vm/web_1/metadata/instance/${path}?api-version=2025-04-07${format}`);
    expect(await (await part('compute')).json()).toMatchObject({ name: 'web_1', physicalZone: 'westeurope-az2' });
    expect(await (await part('network/interface/0/ipv4/subnet', '&format=json')).json()).toEqual([
      { address: '10.0.0.0', prefix: '24' },
    ]);
    expect((await part('compute/name')).status).toBe(400);
    expect((await part('compute', '&format=xml')).status).toBe(400);
  });
});

describe('the simulated token endpoint', () => {
  const path = '/metadata/identity/oauth2/token';
  const query = '?api-version=2018-02-01&resource=https%3A%2F%2Fmonitor.azure.com';

  test.each([path, `${path}/`])('%s returns a signed token for the requested resource', async (endpoint) => {
    const answer = await get(`${endpoint}${query}&client_id=me`);
    const token = (await answer.json()) as { access_token: string; client_id: string; expires_in: string };
    expect(token).toMatchObject({ client_id: 'me', token_type: 'Bearer', resource: 'https://monitor.azure.com' });
    expect(await issuer.refusal(token.access_token, ['https://monitor.azure.com'])).toBeNull();
  });

  const resourceId = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me';
  test('an identity is named by its client id, its object id or its resource id', async () => {
    const tokenFor = async (name: string, id: string): Promise<Record<string, string> | number> => {
      const answer = await get(`${path}${query}&${name}=${encodeURIComponent(id)}`);
      return answer.ok ? ((await answer.json()) as Record<string, string>) : answer.status;
    };
    expect(await tokenFor('object_id', 'me')).toMatchObject({ client_id: 'me' });
    const byResource = (await tokenFor('msi_res_id', resourceId)) as Record<string, string>;
    expect(byResource.client_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(await tokenFor('mi_res_id', resourceId.toUpperCase())).toMatchObject({ client_id: byResource.client_id });
    imds.assignIdentities([resourceId]);
    expect(await tokenFor('msi_res_id', resourceId.toUpperCase())).toMatchObject({ client_id: byResource.client_id });
    expect(await tokenFor('msi_res_id', `${resourceId}2`)).toBe(400);
    expect(await tokenFor('object_id', 'me')).toBe(400);
  });

  test.each([
    ['without a resource', '?api-version=2018-02-01', null],
    ['for an identity that the VM has not', `${query}&client_id=stranger`, ['one']],
    ['that names none of several identities', query, ['one', 'two']],
  ])('a token request %s is refused', async (_, asked, identities) => {
    imds.assignIdentities(identities);
    const answer = await get(`${path}${asked}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toHaveProperty('error', 'invalid_request');
  });
});
