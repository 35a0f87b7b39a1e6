import { asked, askedOfGraph, type ColumnStyle, eventFilters, type Tab, type Words } from '../panel.ts';
import { eventType, hidden, resource, seconds, time } from './column-styles.ts';
import { bridges, where } from './sources.ts';

// assumption: query-resource-graph, workbook-merge-below
/** https://learn.microsoft.com/azure/virtual-machines/resource-graph-availability */
const availability = (words: Words): string[] => [
  'HealthResources',
  '| where type =~ "microsoft.resourcehealth/availabilitystatuses"',
  '| extend',
  '    ResourceId = tolower(tostring(properties.targetResourceId)),',
  '    State = tostring(properties.availabilityState)',
  '| where ResourceId has "/microsoft.compute/"',
  ...where(words.chosen([{ name: 'Location', column: 'location' }])),
];

/** VMs as Azure lists them, with `ResourceGroupId`, which is the same as in `groupOf`. */
const azureVms = (words: Words): string[] => [
  'Resources',
  '| where type =~ "microsoft.compute/virtualmachines"',
  '| extend Size = tostring(properties.hardwareProfile.vmSize)',
  '| union (',
  '    ComputeResources',
  '    | where type =~ "microsoft.compute/virtualmachinescalesets/virtualmachines"',
  '    | extend Size = tostring(sku.name)',
  '    )',
  ...where(words.chosen([{ name: 'Location', column: 'location' }])),
  '| extend ResourceId = tolower(id)',
  groupOf,
];

/** `/subscriptions/…/resourcegroups/…`: a list of groups is within the limit of 10,000 rows, a list of all VMs is not. */
const groupOf = '| extend ResourceGroupId = tostring(split(ResourceId, "/providers/")[0])';

const state: ColumnStyle = { column: 'State', signs: { Unavailable: 'act', Unknown: 'watch', Degraded: 'watch' } };
const since = time('Since', 'Since');
const hour = 'yyyy-MM-dd HH';

export const availabilityTab: Tab = {
  name: 'Availability',
  panels: [
    {
      name: 'states',
      title: 'What does Azure report about its VMs?',
      empty: 'Azure Resource Graph lists no VM.',
      width: 33,
      source: askedOfGraph((words) => [
        ...availability(words),
        '| summarize VMs = count() by State',
        '| order by VMs desc',
      ]),
      show: { as: 'pie', x: 'State', y: ['VMs'], names: ['Available', 'Unavailable', 'Degraded', 'Unknown'] },
    },
    {
      name: 'not-available',
      title: 'Which VMs are not available?',
      empty: 'All VMs are available.',
      width: 67,
      source: askedOfGraph((words) => [
        ...availability(words),
        '| where State !~ "Available"',
        '| extend Since = todatetime(properties.occurredTime)',
        `| extend Outage = strcat(ResourceId, " ", format_datetime(Since, "${hour}"))`,
        '| project ResourceId, State, Since, Location = location, Outage',
        '| order by Since asc',
      ]),
      show: { as: 'table', styles: [resource, state, since, hidden('Outage')] },
    },
    {
      name: 'was-it-announced',
      title: 'Which of these outages began during an event?',
      empty: 'All VMs are available.',
      source: {
        of: 'panels',
        left: 'not-available',
        right: 'events-by-hour',
        on: 'Outage',
        keep: 'left',
        always: { left: 'State', right: 'EventType' },
        columns: [
          { from: 'left', column: 'ResourceId' },
          { from: 'left', column: 'State' },
          { from: 'left', column: 'Since' },
          { from: 'right', column: 'EventType' },
          { from: 'right', column: 'AnnouncedAt' },
          { from: 'right', column: 'BeganAt' },
          { from: 'right', column: 'EndedAt' },
          { from: 'right', column: 'Notice' },
          { from: 'right', column: 'EventId' },
        ],
      },
      show: {
        as: 'table',
        styles: [
          resource,
          state,
          since,
          { ...eventType, label: 'Event at that time' },
          time('AnnouncedAt', 'Announced'),
          time('BeganAt', 'Began'),
          time('EndedAt', 'Ended'),
          seconds('Notice', 'Notice'),
          { column: 'EventId', label: 'Event ID' },
        ],
      },
    },
    {
      name: 'groups-with-bridges',
      title: 'How many VMs of each resource group have a bridge? Click one to see those without.',
      empty: 'Azure Resource Graph lists no VM.',
      width: 50,
      source: {
        of: 'panels',
        left: 'azure-groups',
        right: 'bridge-groups',
        on: 'ResourceGroupId',
        keep: 'left',
        always: { left: 'VMs', right: 'Bridges' },
        columns: [
          { from: 'left', column: 'ResourceGroupId' },
          { from: 'left', column: 'VMs' },
          { from: 'right', column: 'Bridges' },
        ],
      },
      show: {
        as: 'table',
        chooses: { column: 'ResourceGroupId', as: 'ResourceGroupId', shownBy: 'without-bridge' },
        styles: [
          { column: 'ResourceGroupId', label: 'Resource group', as: 'resource' },
          { column: 'VMs', label: 'VMs' },
          { column: 'Bridges', label: 'With a bridge' },
        ],
      },
    },
    {
      name: 'without-bridge',
      title: 'Which VMs of that resource group have no bridge?',
      empty: 'Every VM that Azure lists there has a bridge.',
      width: 50,
      needs: 'ResourceGroupId',
      source: {
        of: 'panels',
        left: 'azure-vms',
        right: 'bridges-of-group',
        on: 'ResourceId',
        keep: 'left without right',
        always: { left: 'Location', right: 'HeardAt' },
        columns: [
          { from: 'left', column: 'ResourceId' },
          { from: 'left', column: 'Location' },
          { from: 'left', column: 'Size' },
        ],
      },
      show: { as: 'table', styles: [resource] },
    },
    {
      name: 'events-by-hour',
      title: 'Which events affected VMs, by hour?',
      empty: 'No event.',
      source: asked((words) => [
        `VmEventTimeline(max_of(14d, now() - ${words.start}))`,
        ...where([
          'isnotempty(ResourceId) and EventType != "Freeze" and Outcome != "Canceled"',
          ...words.chosen(eventFilters),
        ]),
        '| extend BeganAt = coalesce(StartedAt, NotBefore)',
        '| where BeganAt < now()',
        // An outage is attributed to an event if it began during the event, or within a quarter of an hour before or after it.
        '| extend',
        '    First = bin(BeganAt - 15m, 1h),',
        '    Last = bin(min_of(coalesce(EndedAt, BeganAt + 1d), now()) + 15m, 1h)',
        '| mv-expand Hour = range(First, Last, 1h) to typeof (datetime)',
        '| summarize arg_max(BeganAt, EventType, FirstSeenAt, EndedAt, NoticeSeconds, EventId) by ResourceId, Hour',
        `| extend Outage = strcat(tolower(ResourceId), " ", format_datetime(Hour, "${hour}"))`,
        '| order by Hour desc',
        '| project',
        '    Outage,',
        '    EventType,',
        '    AnnouncedAt = FirstSeenAt,',
        '    BeganAt,',
        '    EndedAt,',
        '    Notice = NoticeSeconds,',
        '    EventId',
      ]),
      show: {
        as: 'table',
        styles: [
          { column: 'Outage', label: 'VM and hour' },
          eventType,
          time('AnnouncedAt', 'Announced'),
          time('BeganAt', 'Began'),
          time('EndedAt', 'Ended'),
          seconds('Notice', 'Notice'),
          { column: 'EventId', label: 'Event ID' },
        ],
      },
    },
    {
      name: 'azure-groups',
      title: 'How many VMs does Azure list, by resource group?',
      empty: 'Azure Resource Graph lists no VM.',
      width: 50,
      source: askedOfGraph((words) => [
        ...azureVms(words),
        '| summarize VMs = count() by ResourceGroupId',
        '| order by VMs desc',
      ]),
      show: { as: 'table', styles: [] },
    },
    {
      name: 'bridge-groups',
      title: 'How many VMs have a bridge, by resource group?',
      empty: 'No bridge of the chosen VMs has reported.',
      width: 50,
      source: asked((words) => [
        ...bridges(words),
        '| extend ResourceId = tolower(ResourceId)',
        groupOf,
        '| summarize Bridges = count() by ResourceGroupId',
        '| order by Bridges desc',
      ]),
      show: { as: 'table', styles: [] },
    },
    {
      name: 'azure-vms',
      title: 'Which VMs of that resource group does Azure list?',
      empty: 'Azure Resource Graph lists no VM there.',
      width: 50,
      needs: 'ResourceGroupId',
      source: askedOfGraph((words) => [
        ...azureVms(words),
        `| where ResourceGroupId == ${words.clicked('ResourceGroupId')}`,
        '| project ResourceId, Location = location, Size',
        '| order by ResourceId asc',
      ]),
      show: { as: 'table', styles: [resource] },
    },
    {
      name: 'bridges-of-group',
      title: 'Which VMs of that resource group have a bridge?',
      empty: 'No bridge there has reported.',
      width: 50,
      needs: 'ResourceGroupId',
      source: asked((words) => [
        ...bridges(words),
        '| extend ResourceId = tolower(ResourceId)',
        groupOf,
        `| where ResourceGroupId == ${words.clicked('ResourceGroupId')}`,
        '| project ResourceId, HeardAt = coalesce(LastHeartbeatAt, LastRecordAt)',
        '| order by ResourceId asc',
      ]),
      show: { as: 'table', styles: [resource, time('HeardAt', 'Last heard')] },
    },
  ],
};
