import { subscriptionScope } from '../kinds.ts';
import { found, management, type Route, refused } from '../reply.ts';
import type { World } from '../world.ts';

/** An alert of each enabled rule whose query has rows. */
async function raisedAlerts(world: World): Promise<readonly object[]> {
  const rules = world.under(subscriptionScope, 'Microsoft.Insights/scheduledQueryRules');
  const raised = rules.map(async ({ id, properties }) => {
    const { enabled, criteria } = properties as {
      enabled?: boolean;
      criteria?: { allOf?: readonly { query?: string }[] };
    };
    const query = criteria?.allOf?.[0]?.query;
    if (enabled !== true || query === undefined) return [];
    const answer = await world.services.queries.logs(query);
    const essentials = { alertRule: id, startDateTime: new Date().toISOString() };
    return 'rows' in answer && answer.rows.length > 0 ? [{ properties: { essentials } }] : [];
  });
  return (await Promise.all(raised)).flat();
}

/** What services answer outside of Azure Resource Manager, and what Azure Monitor says of resources. */
export const dataRoutes: readonly Route[] = [
  {
    // https://learn.microsoft.com/rest/api/storageservices/put-blob
    method: 'PUT',
    host: '*.blob.core.windows.net',
    path: '/{container}/{blob*}',
    reply(world, _, { url, body }) {
      world.blobs.set(`${url.origin}${url.pathname}`, typeof body === 'string' ? body : JSON.stringify(body));
      return { status: 201, headers: { etag: '"0x8D"', 'last-modified': new Date(0).toUTCString() } };
    },
  },
  {
    // https://learn.microsoft.com/rest/api/storagerp/storage-accounts/check-name-availability
    method: 'POST',
    host: management,
    path: '/subscriptions/{subscription}/providers/Microsoft.Storage/checkNameAvailability',
    reply: () => found({ nameAvailable: true }),
  },
  {
    // https://learn.microsoft.com/azure/azure-monitor/logs/api/response-format
    method: 'POST',
    host: 'api.loganalytics.io',
    path: '/v1/workspaces/{workspace}/query',
    async reply(world, _, { body }) {
      const { query } = body as { query: string };
      const answer = await world.services.queries.logs(query);
      return 'message' in answer
        ? refused(400, {
            code: 'BadArgumentError',
            message: 'The request had some invalid properties',
            innererror: { code: 'SemanticError', message: answer.message },
          })
        : found({ tables: [{ name: 'PrimaryResult', ...answer }] });
    },
  },
  {
    // https://learn.microsoft.com/rest/api/azureresourcegraph/resourcegraph/resources/resources
    method: 'POST',
    host: management,
    path: '/providers/Microsoft.ResourceGraph/resources',
    async reply(world, _, { body }) {
      const data = await world.services.queries.graph((body as { query: string }).query);
      return found({ totalRecords: data.length, count: data.length, data, facets: [], resultTruncated: 'false' });
    },
  },
  {
    // https://learn.microsoft.com/rest/api/resourcehealth/availability-statuses/get-by-resource
    method: 'GET',
    host: management,
    path: '{id*}/providers/Microsoft.ResourceHealth/availabilityStatuses/current',
    reply: () => found({ name: 'current', properties: { availabilityState: 'Available', reasonType: '' } }),
  },
  {
    // https://learn.microsoft.com/rest/api/monitor/alertsmanagement/alerts/get-all
    method: 'GET',
    host: management,
    path: '/subscriptions/{subscription}/providers/Microsoft.AlertsManagement/alerts',
    reply: async (world) => found({ value: await raisedAlerts(world) }),
  },
  {
    // https://learn.microsoft.com/rest/api/monitor/metrics/list
    method: 'GET',
    host: management,
    path: '{id*}/providers/Microsoft.Insights/metrics',
    reply(_, { id }, { url }) {
      // The CLI encodes it twice, and adds `+00:00` only to a time that it was given.
      const timespan = decodeURIComponent(url.searchParams.get('timespan') ?? '');
      const [from = 0, to = 0] = timespan.split('/').map((time) => Date.parse(/[+Z]/.test(time) ? time : `${time}Z`));
      const minuteAgo = Date.now() - 60_000;
      const data =
        from <= minuteAgo && minuteAgo <= to ? [{ timeStamp: new Date(minuteAgo).toISOString(), total: 1 }] : [];
      return found({
        timespan,
        interval: 'PT1M',
        value: (url.searchParams.get('metricnames') ?? '').split(',').map((name) => ({
          id: `${id}/providers/Microsoft.Insights/metrics/${name}`,
          name: { value: name, localizedValue: name },
          unit: 'Count',
          timeseries: [{ metadatavalues: [], data }],
        })),
      });
    },
  },
];
