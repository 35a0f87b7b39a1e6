import { foundFilters, textFilter, valuesOf } from '../workbooks/panel.ts';
import type { Json } from './json.ts';

const text = (name: string, label: string, query: string): Json => ({
  name,
  label,
  type: 'textbox',
  query,
  current: { text: query, value: query },
  hide: 0,
});

/** What is chosen at the top of the dashboard; it contains no resource ID. */
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
  // Those that Azure Resource Graph is asked for: VMs may be in others than the workspace.
  {
    name: 'Subscriptions',
    label: 'Subscriptions of the VMs',
    type: 'query',
    datasource,
    query: { refId: 'A', queryType: 'Azure Subscriptions' },
    multi: true,
    includeAll: true,
    current: { text: 'All', value: ['$__all'] },
    refresh: 1,
  },
  ...foundFilters.map((filter) => list(datasource, filter)),
  text(textFilter.name, textFilter.label, ''),
  text('EventId', 'Event to follow', ''),
  text('Wave', 'Wave to draw', 'latest'),
  text('ResourceGroupId', 'Resource group to check', ''),
];

/** With all chosen, the query contains `all`: https://grafana.com/docs/grafana/latest/datasources/azure-monitor/query-editor/ */
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
  // When the dashboard is loaded: `On time range change` would ask again at each refresh.
  refresh: 1,
});
