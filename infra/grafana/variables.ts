import { foundFilters, valuesOf } from '../workbooks/panel.ts';

type Json = Readonly<Record<string, unknown>>;

/** What is chosen at the top of the dashboard; no id of a resource stands in it. */
export const variables = (datasource: Json): Json[] => [
  { name: 'Source', label: 'Data source', type: 'datasource', query: datasource.type, hide: 0 },
  {
    name: 'Subscription',
    label: 'Subscription of the workspace',
    type: 'query',
    datasource,
    query: { refId: 'A', queryType: 'Azure Subscriptions' },
    refresh: 1,
  },
  {
    name: 'Workspace',
    label: 'Workspace',
    type: 'query',
    datasource,
    query: { refId: 'A', queryType: 'Azure Workspaces', subscription: '$Subscription' },
    refresh: 1,
  },
  ...foundFilters.map((filter) => list(datasource, filter)),
  { name: 'EventId', label: 'Event to follow', type: 'textbox', query: '', hide: 0 },
];

/** Where all are chosen, `all` stands in the query: https://grafana.com/docs/grafana/latest/datasources/azure-monitor/query-editor/ */
const list = (datasource: Json, filter: (typeof foundFilters)[number]): Json => ({
  name: filter.name,
  label: filter.label,
  type: 'query',
  datasource,
  query: {
    refId: 'A',
    queryType: 'Azure Log Analytics',
    azureLogAnalytics: {
      resources: ['$Workspace'],
      query: valuesOf(filter, '$__timeFrom()').join('\n'),
      resultFormat: 'table',
      dashboardTime: false,
    },
  },
  multi: true,
  includeAll: true,
  allValue: 'all',
  current: { text: 'All', value: ['$__all'] },
  refresh: 2,
});
