import { asked, eventFilters, type Tab, type TileText, vmFilters, type Words } from '../panel.ts';
import { eventId, eventSource, eventType, resource, scaleSet, seconds, time, vm } from './column-styles.ts';
import { kept, where } from './sources.ts';

interface Tile extends TileText {
  readonly of: 'Open' | 'Beats';
  readonly condition: string;
}

/**
 * Started, or due and no report from the VM since: it may be down before it can report the start. Or the VM became silent before a planned
 * reboot: its host may have failed early.
 */
const stuck = [
  'StartedAt < ago(30m)',
  'isnull(StartedAt) and NotBefore < ago(30m) and LastHeardAt < NotBefore + 5m',
  'isnull(StartedAt) and EventType in("Reboot", "Redeploy") and SilentAt < now()',
];

/** In the order in which they are shown. */
const tiles: readonly Tile[] = [
  {
    of: 'Open',
    name: 'In the next hour',
    meaning: 'VMs that Azure may interrupt within the hour',
    condition: 'State in("due", "within the hour")',
    ifAny: 'act',
  },
  {
    of: 'Open',
    name: 'Announced',
    meaning: 'VMs with an event that has not started',
    condition: 'State in("due", "within the hour", "announced")',
    ifAny: 'watch',
  },
  {
    of: 'Open',
    name: 'In progress',
    meaning: 'VMs with an event that started in the last 30 minutes',
    condition: 'State == "in progress"',
    ifAny: 'watch',
  },
  {
    of: 'Open',
    name: 'Stuck',
    meaning: 'started or due over 30 minutes ago, or VM silent before a reboot',
    condition: 'State == "stuck"',
    ifAny: 'act',
  },
  {
    of: 'Beats',
    name: 'Bridges',
    meaning: 'VMs with a heartbeat in the last 24 hours',
    condition: 'isnotempty(VmId)',
    ifAny: 'fine',
  },
  {
    of: 'Beats',
    name: 'Silent',
    meaning: 'of these, heartbeat overdue; silent for over a day: tab Pipeline',
    condition: 'State != "stopping" and TimeGenerated < now() - 2.5m * coalesce(IntervalMinutes, 60)',
    ifAny: 'act',
  },
];

const list = (texts: readonly string[]): string => `dynamic([${texts.map((text) => JSON.stringify(text)).join(', ')}])`;

/** A row for each tile, including tiles with a count of 0. */
const tileRows: readonly string[] = [
  `range Place from 0 to ${tiles.length - 1} step 1`,
  '| lookup kind = leftouter (',
  '    union',
  ...tiles.flatMap(({ of, condition }, place) => [
    '        (',
    `        ${of}`,
    `        | where ${condition}`,
    `        | extend Place = ${place})${place === tiles.length - 1 ? '' : ','}`,
  ]),
  '    | summarize Value = count() by Place',
  '    )',
  '    on Place',
  '| extend Value = coalesce(Value, 0)',
  '| order by Place asc',
  '| project',
  `    Tile = tostring(${list(tiles.map(({ name }) => name))}[Place]),`,
  '    Value,',
  `    Meaning = tostring(${list(tiles.map(({ meaning }) => meaning))}[Place]),`,
  `    Urgency = iff(Value > 0, tostring(${list(tiles.map(({ ifAny }) => ifAny))}[Place]), "fine")`,
];

/**
 * Table `Open`, the events that are not over. It reads the records of two days and the heartbeats of one, because it runs every
 * few minutes: an event that was announced earlier is known from the heartbeat. A VM without a report for a day is assumed to be gone.
 */
const open = (words: Words): string[] => [
  `let Open = ${kept([
    'VmEventStates(ago(2d), ago(1d))',
    '| where IsOpen and LastHeardAt > ago(1d)',
    '| where not(EventType in("Preempt", "Terminate") and coalesce(NotBefore + 10m < now(), false))',
    ...where(words.chosen(eventFilters)),
    `| extend IsStuck = ${stuck.map((condition) => `coalesce(${condition}, false)`).join(' or ')}`,
    '| extend State = case(IsStuck, "stuck", isnotnull(StartedAt), "in progress", coalesce(NotBefore < now(), true), "due", NotBefore < now() + 1h, "within the hour", "announced")',
  ]).join('\n')}`,
];

/** Table `Beats`, the last heartbeat of each bridge. */
const beats = (words: Words): string[] => [
  `let Beats = ${kept([
    'VmLifecycleBridge_CL',
    '| where TimeGenerated > ago(1d)',
    ...where(['coalesce(IsTest, false) == false', ...words.chosen(vmFilters)]),
    '| summarize arg_max(TimeGenerated, State, IntervalMinutes) by VmId',
  ]).join('\n')}`,
];

export const overview: Tab = {
  name: 'Overview',
  panels: [
    {
      name: 'now',
      title: 'What is the state of the fleet right now?',
      empty: 'No bridge of the chosen VMs sent a heartbeat or a record in the last 24 hours.',
      source: asked((words) => [...open(words), ...beats(words), ...tileRows]),
      show: { as: 'tiles', title: 'Tile', value: 'Value', meaning: 'Meaning', urgency: 'Urgency', tiles },
    },
    {
      name: 'attention',
      title: 'Which VMs are affected now or within the hour?',
      empty: 'No VM is affected now or within the hour.',
      source: asked((words) => [
        ...open(words),
        'Open',
        '| where State != "announced"',
        '| extend DueAt = coalesce(StartedAt, NotBefore)',
        '| order by DueAt asc, VmName asc',
        '| project',
        '    State,',
        '    DueAt,',
        '    Since = iff(DueAt < now(), (now() - DueAt) / 1s, real(null)),',
        '    Left = iff(DueAt < now(), real(null), (DueAt - now()) / 1s),',
        '    EventType,',
        '    EventSource,',
        '    VmName,',
        '    VmScaleSetName,',
        '    Location,',
        '    LastHeardAt,',
        '    ResourceId,',
        '    EventId',
      ]),
      show: {
        as: 'table',
        styles: [
          { column: 'State', signs: { stuck: 'act', due: 'act', 'within the hour': 'watch', 'in progress': 'watch' } },
          time('DueAt', 'Started or due'),
          seconds('Since', 'Since'),
          seconds('Left', 'Time left'),
          eventType,
          eventSource,
          vm,
          scaleSet,
          time('LastHeardAt', 'VM last heard'),
          resource,
          eventId,
        ],
      },
    },
  ],
};
