import {
  type ActivityAlert,
  type Alerts,
  allAlerts,
  type LogAlert,
  type MetricAlert,
  type RowAlert,
} from './read-alerts.ts';

type Alert = RowAlert | LogAlert | MetricAlert | ActivityAlert;

const severities = ['critical', 'error', 'warning', 'informational', 'verbose'] as const;

/** What an alert is raised for: one for each of these. */
function raisedFor(alert: Alert): string {
  if ('targetKind' in alert) return targets[alert.targetKind];
  if (!('evaluationFrequency' in alert)) return 'VM, within minutes';
  const dimensions = (alert.dimensions ?? []).filter((name) => name !== 'Route');
  const whom = dimensions.map((name) => words[name] ?? name).join(', ');
  return `${whom}; every ${alert.evaluationFrequency.replace(/^PT/, '').replace('M', ' min').replace('H', ' h')}`;
}

const targets = {
  virtualMachines: 'VM',
  eventHubNamespace: 'namespace',
  dataCollectionRule: 'data collection rule',
  workspace: 'workspace',
  alertRules: 'alert rule',
} as const;

const words: Readonly<Record<string, string>> = {
  VmName: 'VM',
  ScaleSet: 'scale set',
  Location: 'region',
  EventType: 'type of event',
  EventId: 'event id',
  VmSize: 'size',
  SubscriptionId: 'subscription',
  ResourceGroup: 'resource group',
  InputStreamId: 'stream',
  OperationName: 'operation',
};

const isRouted = (alert: Alert): boolean => 'query' in alert && /\bRoute = strcat\(/.test(alert.query);

const inOrder = (alerts: Alerts) =>
  allAlerts(alerts).toSorted((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));

/**
 * All alerts as a Markdown table that links to the cards in on-call.md.
 *
 * @param expected alerts a month of 1,000 VMs, by name; an alert that is not in it is measured by Azure.
 */
export function alertTable(alerts: Alerts, expected: ReadonlyMap<string, number>): string {
  const rows = inOrder(alerts).map((alert) => {
    const count = expected.get(alert.name);
    const cells = [
      `[${alert.name}](on-call.md#${anchorOf(titleOf(alert))})`,
      `${alert.severity} ${severities[alert.severity]}`,
      alert.enabled ? 'on' : 'off',
      raisedFor(alert),
      isRouted(alert) ? 'its owner' : '',
      count === undefined ? '-' : String(count),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    '| alert | severity | | one for each | routed to | a month of 1,000 VMs |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

/** The cards of the person on call, as Markdown: one section per alert. */
export const cardsOf = (alerts: Alerts): string =>
  inOrder(alerts)
    .map((alert) => {
      const { meaning, urgent, firstQuery, whatToDo } = alert.onCall;
      return [
        `## ${titleOf(alert)}`,
        '',
        meaning,
        '',
        `- **Is it urgent?** ${urgent}`,
        `- **First query:** [\`${firstQuery}\`](../kql/queries/${firstQuery}.kql)`,
        `- **What to do:** ${whatToDo}`,
      ].join('\n');
    })
    .join('\n\n');

const titleOf = ({ name, displayName }: Alerts[keyof Alerts][number]): string => `${name}: ${displayName}`;

/** As GitHub makes it. */
const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-');
