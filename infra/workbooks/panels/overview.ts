import { asked, bridges, eventsInTime, kept, openEvents, type Tab, type Urgency, type Words } from '../panel.ts';
import { eventSource, eventType, milliseconds, seconds } from './looks.ts';

interface Tile {
  readonly of: 'Events' | 'Bridges';
  readonly title: string;
  readonly meaning: string;
  readonly condition: string;
  /** How urgent it is that the number is not 0. */
  readonly ifAny: Urgency;
}

/** In the order in which they stand. */
const tiles: readonly Tile[] = [
  {
    of: 'Events',
    title: 'In the next hour',
    meaning: 'VMs that Azure may touch before the hour is over',
    condition: 'isnull(StartedAt) and (isnull(NotBefore) or NotBefore < now() + 1h)',
    ifAny: 'act',
  },
  {
    of: 'Events',
    title: 'Announced',
    meaning: 'VMs with something ahead of them',
    condition: 'isnull(StartedAt)',
    ifAny: 'watch',
  },
  {
    of: 'Events',
    title: 'In progress',
    meaning: 'VMs that Azure is at work on',
    condition: 'isnotnull(StartedAt)',
    ifAny: 'watch',
  },
  {
    of: 'Events',
    title: 'Stuck',
    meaning: 'of these for more than 30 minutes',
    condition: 'StartedAt < ago(30m)',
    ifAny: 'act',
  },
  {
    of: 'Bridges',
    title: 'Bridges',
    meaning: 'VMs that have told of themselves in 14 days',
    condition: 'isnotempty(VmId)',
    ifAny: 'fine',
  },
  {
    of: 'Bridges',
    title: 'Silent',
    meaning: 'bridges that should have given a sign of life',
    condition: 'IsSilent',
    ifAny: 'act',
  },
];

const tileRows = ({ of, title, meaning, condition, ifAny }: Tile, place: number): string[] => [
  '    (',
  `    ${of}`,
  `    | where ${condition}`,
  '    | summarize Value = count()',
  '    | extend',
  `        Place = ${place},`,
  `        Tile = "${title}",`,
  `        Meaning = "${meaning}",`,
  `        IfAny = "${ifAny}"`,
  place === tiles.length - 1 ? '    )' : '    ),',
];

const tileQuery = (words: Words): string[] => [
  `let Events = ${kept(openEvents(words)).join('\n')}`,
  `let Bridges = ${kept(bridges(words)).join('\n')}`,
  'union',
  ...tiles.flatMap(tileRows),
  '| extend Urgency = iff(Value > 0, IfAny, "fine")',
  '| order by Place asc',
  '| project Tile, Value, Meaning, Urgency',
];

export const overview: Tab = {
  name: 'Overview',
  panels: [
    {
      name: 'now',
      title: 'How is the fleet right now?',
      empty: 'No VM of the chosen ones has told anything.',
      source: asked(tileQuery),
      show: { as: 'tiles', title: 'Tile', value: 'Value', meaning: 'Meaning', urgency: 'Urgency' },
    },
    {
      name: 'vms-by-day',
      title: 'How many VMs does Azure touch, day by day?',
      empty: 'No event in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| summarize VMs = count() by EventType, Day = bin(FirstSeenAt, 1d)',
        '| order by Day asc',
      ]),
      show: { as: 'bars', x: 'Day', isTime: true, y: ['VMs'], group: 'EventType' },
    },
    {
      name: 'what-came-of-it',
      title: 'What came of it?',
      empty: 'No event in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| summarize',
        '    VMs = count(),',
        '    Canceled = countif(Outcome == "Canceled"),',
        '    Notice = percentile(NoticeSeconds, 50),',
        '    WorstPause = max(ObservedPauseMs),',
        '    WorstOutage = max(ObservedOutageSeconds)',
        '    by EventType, EventSource',
        '| order by VMs desc',
      ]),
      show: {
        as: 'table',
        looks: [
          eventType,
          eventSource,
          { column: 'VMs', as: 'bar' },
          { column: 'Canceled' },
          seconds('Notice', 'Usual notice'),
          milliseconds('WorstPause', 'Longest pause'),
          seconds('WorstOutage', 'Longest outage'),
        ],
      },
    },
  ],
};
