import { asked, askedOfGraph, bridges, type Look, type Tab, type Words } from '../panel.ts';
import { resource, seconds, time } from './looks.ts';

/** https://learn.microsoft.com/azure/virtual-machines/resource-graph-availability */
const availability = (words: Words): string[] => [
  'HealthResources',
  '| where type =~ "microsoft.resourcehealth/availabilitystatuses"',
  '| extend',
  '    ResourceId = tolower(tostring(properties.targetResourceId)),',
  '    State = tostring(properties.availabilityState)',
  '| where ResourceId has "/microsoft.compute/"',
  ...words.chosen([{ name: 'Location', column: 'location' }]).map((condition) => `| where ${condition}`),
];

const state: Look = {
  column: 'State',
  signs: { Unavailable: 'act', Unknown: 'watch', Degraded: 'watch' },
};
const since = time('Since', 'Since');

export const availabilityTab: Tab = {
  name: 'Availability',
  panels: [
    {
      name: 'states',
      title: 'What does Azure itself say of its VMs?',
      empty: 'Azure Resource Graph tells of no VM.',
      width: 33,
      source: askedOfGraph((words) => [
        ...availability(words),
        '| summarize VMs = count() by State',
        '| order by VMs desc',
      ]),
      show: { as: 'pie', x: 'State', y: ['VMs'] },
    },
    {
      name: 'not-available',
      title: 'Which VMs are not available?',
      empty: 'All are available.',
      width: 67,
      source: askedOfGraph((words) => [
        ...availability(words),
        '| where State !~ "Available"',
        '| extend Since = todatetime(properties.occurredTime)',
        '| project ResourceId, State, Since, Location = location',
        '| order by Since asc',
      ]),
      show: {
        as: 'table',
        looks: [resource, state, since],
      },
    },
    {
      name: 'was-it-announced',
      title: 'Of these, what had been announced?',
      empty: 'All are available.',
      source: {
        of: 'panels',
        left: 'not-available',
        right: 'last-announced',
        on: 'ResourceId',
        keep: 'left',
        always: { left: 'State', right: 'HeardAt' },
        columns: [
          { from: 'left', column: 'ResourceId' },
          { from: 'left', column: 'State' },
          { from: 'left', column: 'Since' },
          { from: 'right', column: 'Event' },
          { from: 'right', column: 'AnnouncedAt' },
          { from: 'right', column: 'Notice' },
          { from: 'right', column: 'HeardAt' },
        ],
      },
      show: {
        as: 'table',
        looks: [
          resource,
          state,
          since,
          { column: 'Event', label: 'Last announced' },
          time('AnnouncedAt', 'Announced'),
          seconds('Notice', 'Notice'),
          time('HeardAt', 'Bridge last heard'),
        ],
      },
    },
    {
      name: 'without-bridge',
      title: 'Which VMs have no bridge?',
      empty: 'Every VM that Azure lists has one.',
      width: 50,
      source: {
        of: 'panels',
        left: 'azure-vms',
        right: 'last-announced',
        on: 'ResourceId',
        keep: 'left without right',
        always: { left: 'Location', right: 'HeardAt' },
        columns: [
          { from: 'left', column: 'ResourceId' },
          { from: 'left', column: 'Location' },
          { from: 'left', column: 'Size' },
        ],
      },
      show: { as: 'table', looks: [resource] },
    },
    {
      name: 'azure-vms',
      title: 'Which VMs does Azure list?',
      empty: 'Azure Resource Graph lists no VM.',
      width: 50,
      source: askedOfGraph((words) => [
        'Resources',
        '| where type =~ "microsoft.compute/virtualmachines"',
        '| extend Size = tostring(properties.hardwareProfile.vmSize)',
        '| union (',
        '    ComputeResources',
        '    | where type =~ "microsoft.compute/virtualmachinescalesets/virtualmachines"',
        '    | extend Size = tostring(sku.name)',
        '    )',
        ...words.chosen([{ name: 'Location', column: 'location' }]).map((condition) => `| where ${condition}`),
        '| project ResourceId = tolower(id), Location = location, Size',
        '| order by ResourceId asc',
      ]),
      show: { as: 'table', looks: [resource] },
    },
    {
      name: 'last-announced',
      title: 'What did the bridges tell of each VM?',
      empty: 'No VM of the chosen ones has told anything.',
      source: asked((words) => [
        'let Events = VmEventTimeline()',
        '    | where isnotempty(ResourceId)',
        '    | summarize arg_max(FirstSeenAt, EventType, NoticeSeconds) by ResourceId;',
        ...bridges(words),
        '| lookup kind = leftouter Events on ResourceId',
        '| project',
        '    ResourceId,',
        '    Event = EventType,',
        '    AnnouncedAt = FirstSeenAt,',
        '    Notice = NoticeSeconds,',
        '    HeardAt = max_of(LastHeartbeatAt, LastRecordAt)',
        '| order by AnnouncedAt desc',
      ]),
      show: {
        as: 'table',
        looks: [
          resource,
          { column: 'Event', label: 'Last announced' },
          time('AnnouncedAt', 'Announced'),
          seconds('Notice', 'Notice'),
          time('HeardAt', 'Bridge last heard'),
        ],
      },
    },
  ],
};
