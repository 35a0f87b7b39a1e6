import { eventTypes } from '../colours.ts';
import { asked, type Tab } from '../panel.ts';
import { resource, scaleSet, seconds, vm } from './column-styles.ts';
import { nameSets, ofSet } from './sets.ts';
import { eventsInTime, fleet, kept } from './sources.ts';

export const hotSpots: Tab = {
  name: 'Hot spots',
  panels: [
    {
      name: 'by-set',
      title: 'How often does Azure interrupt VMs, by scale set? Interruptions per 100 VMs',
      empty: 'No event in this time.',
      source: asked((words) => [
        `let Known = ${[
          ...fleet(words),
          ...ofSet,
          '| summarize OfVms = count() by SubscriptionId, ResourceGroup, ScaleSet, Location;',
        ].join('\n    ')}`,
        ...eventsInTime(words),
        ...ofSet,
        '| summarize Touched = count(), Names = dcount(VmName) by SubscriptionId, ResourceGroup, ScaleSet, Location, EventType',
        '| lookup kind = leftouter Known on SubscriptionId, ResourceGroup, ScaleSet, Location',
        ...nameSets,
        '| extend Times = round(100.0 * Touched / max_of(coalesce(OfVms, 0), Names), 1)',
        '| order by Set asc',
        '| project Set, EventType, Times',
      ]),
      show: { as: 'bars', x: 'Set', isTime: false, y: ['Times'], group: 'EventType', names: eventTypes },
    },
    {
      name: 'per-hundred',
      title: 'In which regions does Azure interrupt VMs most often?',
      empty: 'No bridge of the chosen VMs has reported.',
      width: 50,
      source: asked((words) => [
        `let Events = ${eventsInTime(words).join('\n    ')}`,
        '    | summarize Touched = count() by Location;',
        ...fleet(words),
        '| summarize VMs = count() by Location',
        '| lookup kind = leftouter Events on Location',
        '| project',
        '    Location,',
        '    VMs,',
        '    Touched = coalesce(Touched, 0),',
        '    PerHundred = round(100.0 * coalesce(Touched, 0) / VMs, 1)',
        '| order by PerHundred desc',
      ]),
      show: {
        as: 'table',
        styles: [
          { column: 'VMs' },
          { column: 'Touched', label: 'Interruptions' },
          { column: 'PerHundred', label: 'Per 100 VMs', as: 'heat' },
        ],
      },
    },
    {
      name: 'evictions-by-hour',
      title: 'At which hours (UTC) are Spot VMs evicted?',
      empty: 'No Spot VM was evicted in this time.',
      width: 50,
      source: asked((words) => [
        `let Evictions = ${kept([
          ...eventsInTime(words),
          '| where EventType =~ "Preempt" and Outcome != "Canceled"',
          '| where coalesce(StartedAt, NotBefore) < now()',
          '| summarize VMs = count() by Hour = tolong(hourofday(coalesce(StartedAt, NotBefore))), Location',
        ]).join('\n')}`,
        // Hours without an eviction are rows, too.
        'range Hour from 0 to 23 step 1',
        '| extend All = 1',
        '| join kind = inner (Evictions | distinct Location | extend All = 1) on All',
        '| join kind = leftouter Evictions on Hour, Location',
        '| order by Hour asc, Location asc',
        '| project Hour = strcat(Hour, ":00"), Location, VMs = coalesce(VMs, 0)',
      ]),
      show: { as: 'bars', x: 'Hour', isTime: false, y: ['VMs'], group: 'Location' },
    },
    {
      name: 'noisiest',
      title: 'Which VMs does Azure interrupt most often?',
      empty: 'No event in this time.',
      source: asked((words) => [
        ...eventsInTime(words),
        '| summarize',
        '    Events = dcount(EventId),',
        '    Kinds = make_set(EventType),',
        '    Away = sum(ObservedOutageSeconds),',
        '    Paused = sum(ObservedPauseTotalMs) / 1000.0,',
        '    Hosts = dcountif(PhysicalHost, isnotempty(PhysicalHost)),',
        '    ResourceId = take_anyif(ResourceId, isnotempty(ResourceId))',
        '    by VmName, VmScaleSetName, VmSize, Location',
        '| top 10 by Events desc',
        '| project',
        '    Events,',
        '    VmName,',
        '    VmScaleSetName,',
        '    VmSize,',
        '    Location,',
        '    Kinds = strcat_array(Kinds, ", "),',
        '    Away,',
        '    Paused,',
        '    Hosts,',
        '    ResourceId',
      ]),
      show: {
        as: 'table',
        styles: [
          { column: 'Events', as: 'bar' },
          vm,
          scaleSet,
          { column: 'VmSize', label: 'Size' },
          seconds('Away', 'Away, together'),
          seconds('Paused', 'Paused, together'),
          resource,
        ],
      },
    },
  ],
};
