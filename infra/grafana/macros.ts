/** What clicks chose in the dashboard. */
export interface Clicked {
  readonly eventId: string;
  /** Resource id of a group, in lower case. */
  readonly resourceGroupId: string;
}

/**
 * A query as the data source sends it, where all is chosen of every list: macros and variables replaced.
 * Throws where it uses one that is not known.
 * https://grafana.com/docs/grafana/latest/datasources/azure-monitor/query-editor/
 */
export function withMacros(query: string, from: Date, to: Date, clicked: Clicked): string {
  const time = (value: Date): string => `datetime('${value.toISOString()}')`;
  return query
    .replace(/\$__timeFilter\((\w+)\)/g, `['$1'] >= ${time(from)} and ['$1'] <= ${time(to)}`)
    .replace(/\$__contains\(\w+, \$\w+\)/g, '1 == 1')
    .replaceAll('$__timeFrom()', time(from))
    .replaceAll('$__timeTo()', time(to))
    .replaceAll('$EventId', clicked.eventId)
    .replaceAll('$Wave', 'latest')
    .replaceAll('$ResourceGroupId', clicked.resourceGroupId)
    .replaceAll('$VmName', '')
    .replace(/\$\w+/g, (name) => {
      throw new Error(`the data source does not know ${name}`);
    });
}
