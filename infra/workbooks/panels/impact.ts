import { eventTypes } from '../colours.ts';
import { asked, type Tab } from '../panel.ts';
import { eventSource, eventType, milliseconds, operatingSystem, seconds } from './column-styles.ts';
import { eventsInTime, fleet, indented } from './sources.ts';

const hours = Array.from({ length: 24 }, (_, hour) => String(hour).padStart(2, '0'));

/** Events that a VM measured, with the seconds for which it was paused or down. */
const impacted = [
  '| where SeenFrom == "itself"',
  '| extend Seconds = coalesce(ObservedOutageSeconds, 0.0) + coalesce(ObservedPauseTotalMs, 0) / 1000.0',
  '| where Seconds > 0',
];

export const impact: Tab = {
  name: 'Impact',
  panels: [
    {
      name: 'pause-by-size',
      title: 'How long do freezes last, compared with the duration that Azure announces?',
      empty: 'No VM measured a freeze in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| where EventType =~ "Freeze" and isnotnull(ObservedPauseMs)',
        '| summarize',
        '    Said = maxif(DurationInSeconds, DurationInSeconds >= 0),',
        '    Half = percentile(ObservedPauseMs / 1000.0, 50),',
        '    Most = percentile(ObservedPauseMs / 1000.0, 95),',
        '    Longest = max(ObservedPauseMs) / 1000.0',
        // What a VM measures of a freeze depends on the clocks of its operating system.
        '    by Size = strcat(replace_string(VmSize, "Standard_", ""), iff(OsType =~ "Windows", " Windows", ""))',
        '| order by Longest desc',
        '| project',
        '    Size,',
        '    ["announced duration"] = todouble(Said),',
        '    median = Half,',
        '    ["95th percentile"] = Most,',
        '    longest = Longest',
      ]),
      show: {
        as: 'bars',
        x: 'Size',
        isTime: false,
        y: ['announced duration', 'median', '95th percentile', 'longest'],
        unit: 's',
        names: ['announced duration', 'median', '95th percentile', 'longest'],
      },
    },
    {
      name: 'worst-pause-by-day',
      title: 'Are freezes getting longer?',
      empty: 'No VM measured a freeze in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| where EventType =~ "Freeze" and isnotnull(ObservedPauseMs)',
        '| summarize median = percentile(ObservedPauseMs, 50), longest = max(ObservedPauseMs) by Day = bin(FirstSeenAt, 1d)',
        '| order by Day asc',
      ]),
      show: {
        as: 'lines',
        x: 'Day',
        isTime: true,
        y: ['median', 'longest'],
        unit: 'ms',
        names: ['median', 'longest'],
      },
    },
    {
      name: 'region-by-hour',
      title: 'At which hours (UTC) are VMs paused or down? Seconds per 100 VMs',
      empty: 'No VM measured a pause or an outage in this time.',
      source: asked((words) => [
        `let Known = ${fleet(words).join('\n    ')}`,
        '    | summarize VMs = count() by Location;',
        ...eventsInTime(words),
        ...impacted,
        '| lookup kind = leftouter Known on Location',
        '| extend',
        '    Seconds = 100 * Seconds / coalesce(VMs, 1),',
        '    Hour = hourofday(coalesce(OutageFrom, StartedAt, NotBefore))',
        '| summarize',
        ...hours.map(
          (hour, number) => `    ["${hour}"] = round(sumif(Seconds, Hour == ${number}))${number < 23 ? ',' : ''}`,
        ),
        '    by Location',
        '| order by Location asc',
      ]),
      show: { as: 'table', styles: [{ column: '00', andColumns: hours.slice(1), as: 'heat' }] },
    },
    {
      name: 'vms-by-day',
      title: 'How many of 1,000 VMs does Azure interrupt each day?',
      empty: 'No event in this time.',
      width: 50,
      source: asked((words) => [
        `let Known = toscalar (\n${indented([...fleet(words), '| count);']).join('\n')}`,
        ...eventsInTime(words),
        '| summarize VMs = round(1000.0 * count() / max_of(Known, 1), 1) by EventType, Day = bin(FirstSeenAt, 1d)',
        '| order by Day asc',
      ]),
      show: { as: 'bars', x: 'Day', isTime: true, y: ['VMs'], group: 'EventType', names: eventTypes },
    },
    {
      name: 'outcomes',
      title: 'How did events end, and what did VMs measure?',
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
        styles: [
          eventType,
          eventSource,
          { column: 'VMs', as: 'bar' },
          seconds('Notice', 'Median notice'),
          milliseconds('WorstPause', 'Longest pause'),
          seconds('WorstOutage', 'Longest outage'),
        ],
      },
    },
    {
      name: 'announced-and-measured',
      title: 'Do measured durations agree with the announced ones?',
      empty: 'Nothing was measured in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| extend Took = iff(EventType =~ "Freeze", ObservedPauseMs / 1000.0, ObservedOutageSeconds)',
        '| where isnotnull(Took)',
        '| summarize',
        '    VMs = count(),',
        '    Half = percentile(Took, 50),',
        '    P95 = percentile(Took, 95),',
        '    Longest = max(Took)',
        '    by',
        '    EventType,',
        '    OsType,',
        '    Said = iff(DurationInSeconds >= 0, strcat(DurationInSeconds, " s"), "unknown")',
        '| order by VMs desc',
      ]),
      show: {
        as: 'table',
        styles: [
          eventType,
          operatingSystem,
          { column: 'Said', label: 'Announced' },
          { column: 'VMs', as: 'bar' },
          seconds('Half', 'Median'),
          seconds('P95', '95th percentile'),
          seconds('Longest', 'Longest'),
        ],
      },
    },
    {
      name: 'notice',
      title: 'Is the notice as long as documented? Approved events are not counted',
      empty: 'No event in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| where isnotnull(NoticeSeconds)',
        '| extend Documented = case(EventType in~("Freeze", "Reboot"), 900, EventType =~ "Redeploy", 600, EventType =~ "Preempt", 30, EventType =~ "Terminate", 300, int(null))',
        // An approval shortens the notice.
        '| extend IsGiven = isnull(ApprovedAt)',
        // Up to one poll passes before the bridge sees the announcement, and up to another before it sees the start.
        '| summarize',
        '    Shortest = minif(NoticeSeconds, IsGiven),',
        '    Half = percentile(iff(IsGiven, NoticeSeconds, real(null)), 50),',
        '    VMs = countif(IsGiven),',
        '    Shorter = countif(IsGiven and NoticeSeconds < Documented - 5),',
        '    Approved = countif(not(IsGiven))',
        '    by EventType, EventSource, Documented',
        '| order by VMs desc',
        '| project EventType, EventSource, Documented, Shortest, Half, VMs, Shorter, Approved',
      ]),
      show: {
        as: 'table',
        styles: [
          eventType,
          eventSource,
          seconds('Documented', 'Documented'),
          seconds('Shortest', 'Shortest'),
          seconds('Half', 'Median'),
          { column: 'VMs', as: 'bar' },
          { column: 'Shorter', label: 'Shorter', as: 'heat' },
          { column: 'Approved', label: 'Approved' },
        ],
      },
    },
  ],
};
