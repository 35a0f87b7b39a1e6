import { type Asked, asked, eventFilters, type Tab, type Words } from '../panel.ts';
import { eventType, hidden, seconds, time } from './column-styles.ts';
import { atTheSameTime, nameSets, ofSet } from './sets.ts';
import { fleet, kept, where } from './sources.ts';

/** A wave has ended when Azure has started with no further VM of the scale set for this time. */
const pause = '3h';

/** Table `Touched`: what Azure does to VMs of scale sets, with the number of the wave. Freezes are left out, because they do not move VMs. */
const touched = (words: Words): string[] => [
  `let Touched = ${kept([
    `VmEventTimeline(max_of(14d, now() - ${words.start}))`,
    ...where([
      'EventType != "Freeze" and Outcome != "Canceled" and isnotempty(VmScaleSetName)',
      ...words.chosen(eventFilters),
    ]),
    '| extend Begin = coalesce(OutageFrom, StartedAt, NotBefore, FirstSeenAt)',
    ...where([`Begin >= ${words.start} and (IsOpen or ${words.within('Begin')})`]),
    ...ofSet,
    '| extend Key = strcat(SubscriptionId, "/", ResourceGroup, "/", ScaleSet, "/", Location)',
    '| sort by Key asc, Begin asc',
    `| extend IsNew = Key != prev(Key) or Begin - prev(Begin) > ${pause}`,
    '| extend Number = row_cumsum(toint(coalesce(IsNew, true)))',
  ]).join('\n')}`,
];

/** Table `Waves`: a row for each wave of at least two VMs. `Wave` is its id. */
const wavesOf = (words: Words): string[] => [
  ...touched(words),
  `let Waves = ${kept([
    'Touched',
    '| summarize',
    '    VMs = dcount(VmName),',
    '    Done = dcountif(VmName, isnotnull(EndedAt)),',
    '    Now = dcountif(VmName, IsOpen and isnotnull(StartedAt)),',
    '    ToCome = dcountif(VmName, IsOpen and isnull(StartedAt)),',
    '    From = min(Begin),',
    '    Until = max(coalesce(EndedAt, Begin)),',
    '    EventTypes = array_sort_asc(make_set(EventType))',
    '    by Number, SubscriptionId, ResourceGroup, ScaleSet, Location',
    '| where VMs > 1',
    '| extend Wave = strcat(SubscriptionId, "/", ResourceGroup, "/", ScaleSet, " ", format_datetime(From, "yyyy-MM-dd HH:mm"))',
  ]).join('\n')}`,
];

// assumption: workbook-composite-bar, workbook-export-default
/** Table `Lanes`: the VMs of the chosen wave; of the latest one before a click. At most half an hour of the notice is drawn. */
const lanes = (words: Words): string[] => [
  ...wavesOf(words),
  `let Chosen = ${words.clicked('Wave')};`,
  'let Wave = toscalar (Waves | order by From desc | where Chosen in("latest", Wave) | project Number);',
  `let Lanes = ${kept([
    'Touched',
    '| where Number == Wave',
    '| extend Until = coalesce(EndedAt, now())',
    '| extend WorkFrom = min_of(coalesce(StartedAt, Until), coalesce(OutageFrom, Until), Until)',
    '| extend',
    '    DownFrom = coalesce(OutageFrom, WorkFrom),',
    '    DownUntil = min_of(coalesce(OutageUntil, WorkFrom), Until)',
    '| extend Announced = min_of(max_of(FirstSeenAt, WorkFrom - 30m), WorkFrom)',
  ]).join('\n')}`,
];

const minutes = (until: string, from: string): string => `max_of((${until} - ${from}) / 1m, 0.0)`;

const lanesAsParts = (words: Words): string[] => [
  ...lanes(words),
  'let First = toscalar (Lanes | summarize min(Announced));',
  'let Last = toscalar (Lanes | summarize max(Until));',
  'Lanes',
  '| order by bin(WorkFrom, 1m) asc, VmName asc',
  '| project',
  '    VmName,',
  '    Domain = iff(isempty(FaultDomain), Zone, strcat(Zone, "/", FaultDomain)),',
  '    EventType,',
  '    StartedAt = format_datetime(StartedAt, "yyyy-MM-dd HH:mm:ss"),',
  '    Away = ObservedOutageSeconds,',
  '    Lane = "",',
  `    Before = ${minutes('Announced', 'First')},`,
  `    Notice = ${minutes('WorkFrom', 'Announced')},`,
  `    Work = ${minutes('DownFrom', 'WorkFrom')},`,
  `    Gone = ${minutes('DownUntil', 'DownFrom')},`,
  `    MoreWork = ${minutes('Until', 'DownUntil')},`,
  `    After = ${minutes('Last', 'Until')},`,
  '    EndedAt = format_datetime(EndedAt, "yyyy-MM-dd HH:mm:ss")',
];

/** The number that stands for each state over time. */
const states = { 0: 'nothing', 1: 'announced', 2: 'in progress', 3: 'down' } as const;

const lanesOverTime = (words: Words): string[] => [
  ...lanes(words),
  'union',
  '    (Lanes | project Time = Announced, VmName, State = 1),',
  '    (Lanes | where isnotnull(StartedAt) or isnotnull(OutageFrom) | project Time = WorkFrom, VmName, State = 2),',
  '    (Lanes | where DownUntil > DownFrom | project Time = DownFrom, VmName, State = 3),',
  '    (Lanes | where DownUntil > DownFrom | project Time = DownUntil, VmName, State = 2),',
  '    (Lanes | where isnotnull(EndedAt) | project Time = Until, VmName, State = 0)',
  '| summarize State = max(State) by Time, VmName',
  '| order by Time asc, VmName asc',
];

const wave: Asked = { ...asked(lanesAsParts), overTime: (words) => lanesOverTime(words).join('\n') };

/** Least number of VMs of a set that go down within a quarter of an hour to be listed. */
const several = 3;

export const waves: Tab = {
  name: 'Waves',
  panels: [
    {
      name: 'waves',
      title: 'How far has Azure progressed through each scale set? Click a wave to draw it below.',
      empty: 'In this time, Azure did not interrupt two VMs of the same scale set.',
      source: asked((words) => [
        ...wavesOf(words),
        `let Known = ${[
          ...fleet(words),
          '| where isnotempty(VmScaleSetName)',
          ...ofSet,
          '| summarize OfVms = count() by SubscriptionId, ResourceGroup, ScaleSet, Location;',
        ].join('\n    ')}`,
        'Waves',
        '| lookup kind = leftouter Known on SubscriptionId, ResourceGroup, ScaleSet, Location',
        ...nameSets,
        '| extend OfVms = max_of(coalesce(OfVms, 0), VMs)',
        '| order by From desc',
        '| project',
        '    Set,',
        '    EventTypes = strcat_array(EventTypes, ", "),',
        '    From,',
        '    Until,',
        '    Done,',
        '    Now,',
        '    ToCome,',
        '    OfVms,',
        '    DonePercent = round(100.0 * Done / OfVms),',
        '    ZoomFrom = tolong((From - 35m - datetime(1970-01-01)) / 1ms),',
        '    ZoomTo = tolong((Until + 5m - datetime(1970-01-01)) / 1ms),',
        '    Wave',
      ]),
      show: {
        as: 'table',
        chooses: {
          column: 'Wave',
          as: 'Wave',
          first: 'latest',
          clickOn: 'Set',
          shownBy: 'wave',
          zoom: { from: 'ZoomFrom', to: 'ZoomTo' },
        },
        styles: [
          { column: 'Set', label: 'Scale set' },
          { column: 'EventTypes', label: 'Events' },
          time('From', 'From'),
          time('Until', 'Until'),
          { column: 'ToCome', label: 'Upcoming' },
          { column: 'OfVms', label: 'Of VMs' },
          { column: 'DonePercent', label: 'Done, %', as: 'bar' },
          hidden('ZoomFrom'),
          hidden('ZoomTo'),
          hidden('Wave'),
        ],
      },
    },
    {
      name: 'wave',
      title: 'The wave, VM by VM: announced (blue), in progress (orange), down (red)',
      empty: 'In this time, Azure did not interrupt two VMs of the same scale set.',
      source: wave,
      show: {
        as: 'table',
        lanes: states,
        styles: [
          { column: 'VmName', label: 'VM' },
          { column: 'Domain', label: 'Zone/fault domain' },
          eventType,
          { column: 'StartedAt', label: 'Started (UTC)' },
          seconds('Away', 'Away'),
          {
            column: 'Lane',
            label: 'First announced to last ended',
            parts: [
              { column: 'Before', meaning: 'nothing' },
              { column: 'Notice', meaning: 'announced' },
              { column: 'Work', meaning: 'in progress' },
              { column: 'Gone', meaning: 'down' },
              { column: 'MoreWork', meaning: 'in progress' },
              { column: 'After', meaning: 'nothing' },
            ],
          },
          ...['Before', 'Notice', 'Work', 'Gone', 'MoreWork', 'After'].map(hidden),
          { column: 'EndedAt', label: 'Ended (UTC)' },
        ],
      },
    },
    {
      name: 'down-at-once',
      title: 'How many VMs of the wave were down at the same time, by their own measurement?',
      empty: 'No VM of the wave measured an outage.',
      source: asked((words) => [
        ...lanes(words),
        'let Intervals = Lanes',
        '    | where isnotnull(OutageFrom)',
        '    | extend From = OutageFrom, Until = OutageUntil;',
        ...atTheSameTime,
        // A chart draws straight lines, so each step also needs a point with the number before it.
        '| mv-expand IsBefore = pack_array(true, false) to typeof (bool)',
        '| project Time = iff(IsBefore, At - 1s, At), down = iff(IsBefore, VMs - Change, VMs)',
        '| order by Time asc',
      ]),
      show: { as: 'area', x: 'Time', isTime: true, y: ['down'], names: ['down'] },
    },
    {
      name: 'at-once',
      title: 'When did several VMs of one scale set go down within 15 minutes?',
      empty: `In this time, no ${several} VMs of one scale set went down within 15 minutes.`,
      source: asked((words) => [
        `let Downs = ${kept([
          `VmEventTimeline(max_of(14d, now() - ${words.start}))`,
          ...where([
            'EventType != "Freeze" and Outcome != "Canceled" and isnotempty(VmScaleSetName)',
            ...words.chosen(eventFilters),
          ]),
          ...ofSet,
          '| extend From = coalesce(OutageFrom, StartedAt)',
          ...where([words.within('From')]),
          '| extend Until = From + 15m',
        ]).join('\n')}`,
        'let Intervals = Downs;',
        ...atTheSameTime,
        '| summarize arg_max(VMs, At) by SubscriptionId, ResourceGroup, ScaleSet, Location, Day = startofday(At)',
        `| where VMs >= ${several}`,
        '| join kind = inner Downs on SubscriptionId, ResourceGroup, ScaleSet, Location',
        '| where From <= At and Until > At',
        '| summarize',
        '    FirstAt = min(From),',
        '    LastAt = max(From),',
        '    VMs = dcount(VmName),',
        '    Zones = strcat_array(array_sort_asc(make_set_if(Zone, isnotempty(Zone))), ", "),',
        '    Domains = dcountif(strcat(Zone, "/", FaultDomain), isnotempty(FaultDomain)),',
        '    Events = strcat_array(array_sort_asc(make_set(EventType)), ", ")',
        '    by SubscriptionId, ResourceGroup, ScaleSet, Location, Day',
        `| where VMs >= ${several}`,
        ...nameSets,
        '| top 20 by VMs desc',
        '| project FirstAt, LastAt, Set, VMs, Zones, Domains, Events',
      ]),
      show: {
        as: 'table',
        styles: [
          time('FirstAt', 'First down'),
          time('LastAt', 'Last down'),
          { column: 'Set', label: 'Scale set' },
          { column: 'VMs', as: 'bar' },
          { column: 'Domains', label: 'Fault domains' },
        ],
      },
    },
  ],
};
