import { asked, eventsInTime, type Tab } from '../panel.ts';
import { eventSource, eventType, seconds } from './looks.ts';

export const impact: Tab = {
  name: 'Impact',
  panels: [
    {
      name: 'pause-by-size',
      title: 'How long does a freeze really last?',
      empty: 'No VM measured a freeze in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| where EventType =~ "Freeze" and isnotnull(ObservedPauseMs)',
        '| summarize percentiles(ObservedPauseMs, 50, 95, 99) by Size = replace_string(VmSize, "Standard_", "")',
        '| project',
        '    Size,',
        '    P50 = percentile_ObservedPauseMs_50,',
        '    P95 = percentile_ObservedPauseMs_95,',
        '    P99 = percentile_ObservedPauseMs_99',
        '| order by P95 desc',
      ]),
      show: { as: 'bars', x: 'Size', isTime: false, y: ['P50', 'P95', 'P99'], unit: 'ms' },
    },
    {
      name: 'worst-pause-by-day',
      title: 'Do freezes get worse?',
      empty: 'No VM measured a freeze in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| where EventType =~ "Freeze" and isnotnull(ObservedPauseMs)',
        '| summarize P50 = percentile(ObservedPauseMs, 50), Longest = max(ObservedPauseMs) by Day = bin(FirstSeenAt, 1d)',
        '| order by Day asc',
      ]),
      show: { as: 'lines', x: 'Day', isTime: true, y: ['P50', 'Longest'], unit: 'ms' },
    },
    {
      name: 'said-and-measured',
      title: 'Is what Azure says about durations true?',
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
        '    by EventType, Said = iff(DurationInSeconds >= 0, DurationInSeconds, int(null))',
        '| order by VMs desc',
      ]),
      show: {
        as: 'table',
        looks: [
          eventType,
          seconds('Said', 'Said to take'),
          { column: 'VMs', as: 'bar' },
          seconds('Half', 'Half took up to'),
          seconds('P95', '95 % up to'),
          seconds('Longest', 'Longest'),
        ],
      },
    },
    {
      name: 'notice',
      title: 'Is the notice as long as it is documented?',
      empty: 'No event in this time.',
      width: 50,
      source: asked((words) => [
        ...eventsInTime(words),
        '| where isnotnull(NoticeSeconds)',
        '| extend Documented = case(EventType in~("Freeze", "Reboot"), 900, EventType =~ "Redeploy", 600, EventType =~ "Preempt", 30, EventType =~ "Terminate", 300, int(null))',
        // A poll passes before an announcement is seen, and another before its start is.
        '| summarize',
        '    VMs = count(),',
        '    Shortest = min(NoticeSeconds),',
        '    Half = percentile(NoticeSeconds, 50),',
        '    Shorter = countif(NoticeSeconds < Documented - 5)',
        '    by EventType, EventSource, Documented',
        '| order by VMs desc',
      ]),
      show: {
        as: 'table',
        looks: [
          eventType,
          eventSource,
          seconds('Documented', 'Documented'),
          seconds('Shortest', 'Shortest'),
          seconds('Half', 'Half had up to'),
          { column: 'VMs', as: 'bar' },
          { column: 'Shorter', label: 'Had less', as: 'heat' },
        ],
      },
    },
  ],
};
