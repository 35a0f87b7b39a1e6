/** What the user has chosen at the top of the workbook. */
export interface Chosen {
  /** As long until now as the time range goes. */
  readonly days: number;
  readonly now: Date;
  /** What was clicked, by the name of the parameter. */
  readonly clicked: Readonly<Record<string, string>>;
}

const dayMs = 86_400_000;

/**
 * The query as it is sent: with what was chosen in the place of the parameters, where all is chosen of every list.
 * Throws where a parameter is named that the workbook does not have.
 * https://learn.microsoft.com/azure/azure-monitor/visualize/workbooks-time
 */
export function withChosen(query: string, { days, now, clicked }: Chosen): string {
  const start = new Date(now.getTime() - days * dayMs).toISOString();
  const values: Readonly<Record<string, string>> = {
    TimeRange: `> ago(${days}d)`,
    'TimeRange:start': `datetime(${start})`,
    'TimeRange:end': `datetime(${now.toISOString()})`,
    Subscription: "'value::all'",
    EventType: "'*'",
    Location: "'*'",
    VmScaleSet: "'*'",
    VmName: '',
    ...clicked,
  };
  return query.replace(/\{(\w+(:\w+)?)\}/g, (parameter, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the workbook has no parameter ${parameter}`);
    return value;
  });
}
