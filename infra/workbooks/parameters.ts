import { foundFilters, textFilter, valuesOf } from './panel.ts';
import type { Parameter, ParametersContent } from './workbook-json.ts';

/** What people choose at the top of the workbook. The ids mean nothing, but have to stay the same. */

const workspace = 'microsoft.operationalinsights/workspaces';
const graph = { queryType: 1, resourceType: 'microsoft.resourcegraph/resources' } as const;
const id = (number: number): string => `5f3f0d0c-6f0e-4c53-9a0f-6a1d6f3c9b${String(number).padStart(2, '0')}`;

/** Any number of values, all at first. With all chosen, the query contains `*`. */
const list = (number: number, filter: (typeof foundFilters)[number]): Parameter => ({
  id: id(number),
  version: 'KqlParameterItem/1.0',
  name: filter.name,
  label: filter.label,
  type: 2,
  isRequired: true,
  multiSelect: true,
  quote: "'",
  delimiter: ',',
  query: valuesOf(filter, '{TimeRange:start}').join('\n'),
  crossComponentResources: ['{Workspace}'],
  defaultValue: 'value::all',
  typeSettings: { additionalResourceOptions: ['value::all'], selectAllValue: '*', showDefault: false },
  queryType: 0,
  resourceType: workspace,
});

const day = 86_400_000;

export const parameters: ParametersContent = {
  version: 'KqlParameterItem/1.0',
  crossComponentResources: ['{Workspace}'],
  parameters: [
    {
      id: id(3),
      version: 'KqlParameterItem/1.0',
      name: 'Subscription',
      label: 'Subscriptions',
      type: 6,
      isRequired: true,
      multiSelect: true,
      quote: "'",
      delimiter: ',',
      defaultValue: 'value::all',
      typeSettings: { additionalResourceOptions: ['value::all'], includeAll: true, showDefault: false },
    },
    {
      id: id(1),
      version: 'KqlParameterItem/1.0',
      name: 'Workspace',
      label: 'Workspace',
      type: 5,
      isRequired: true,
      query: `where type =~ '${workspace}' | project id`,
      crossComponentResources: ['value::all'],
      typeSettings: { additionalResourceOptions: ['value::1'], showDefault: false },
      ...graph,
    },
    {
      id: id(2),
      version: 'KqlParameterItem/1.0',
      name: 'TimeRange',
      label: 'Time range',
      type: 4,
      isRequired: true,
      value: { durationMs: 14 * day },
      typeSettings: {
        selectableValues: [1, 7, 14, 30, 90].map((days) => ({ durationMs: days * day })),
        allowCustom: true,
      },
    },
    ...foundFilters.map((filter, index) => list(4 + index, filter)),
    {
      id: id(7),
      version: 'KqlParameterItem/1.0',
      name: textFilter.name,
      label: textFilter.label,
      type: 1,
      isRequired: false,
      value: '',
    },
  ],
  style: 'pills',
  queryType: 0,
  resourceType: workspace,
};
