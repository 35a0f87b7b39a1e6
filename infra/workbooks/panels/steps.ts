import { asked, type Choice, type Panel } from '../panel.ts';
import { seconds, time } from './column-styles.ts';

/** The steps of the event that a click chose, to the second. */
export const stepsOf = (choice: Choice, { name, title }: Pick<Panel, 'name' | 'title'>): Panel => ({
  name,
  title,
  empty: 'No record of the chosen event in this time.',
  needs: choice,
  source: asked((words) => [
    // An event may be announced days before its records of today.
    `VmLifecycle(max_of(14d, now() - ${words.start}))`,
    `| where EventId =~ ${words.clicked(choice)}`,
    '| order by AzureAt asc, Sequence asc',
    '| extend After = (AzureAt - prev(AzureAt)) / 1s',
    '| project',
    '    SeenAt = format_datetime(AzureAt, "yyyy-MM-dd HH:mm:ss"),',
    '    After,',
    '    Phase,',
    '    VmName,',
    '    SeenBy,',
    '    NotBefore,',
    '    Evidence = strcat_array(Evidence, ", "),',
    '    Changes = iff(array_length(Changes) > 0, tostring(Changes), ""),',
    '    Description',
  ]),
  show: {
    as: 'table',
    styles: [
      { column: 'SeenAt', label: 'Seen (UTC)' },
      seconds('After', 'After the step before'),
      { column: 'Phase', signs: { Started: 'watch', Completed: 'fine', Canceled: 'fine' } },
      { column: 'VmName', label: 'First seen by' },
      { column: 'SeenBy', label: 'VMs that saw it' },
      time('NotBefore', 'Not before'),
    ],
  },
});
