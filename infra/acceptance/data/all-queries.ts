import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { withMacros } from '../../grafana/macros.ts';
import { grafanaPath, workbookPath } from '../../workbooks/dashboards.ts';
import { withChosen } from '../../workbooks/preview/chosen.ts';
import { clickedIn, readWorkbook, stepsOf } from '../../workbooks/preview/read-workbook.ts';
import { queryTypes, type Workbook } from '../../workbooks/workbook-json.ts';

/** A query that this project ships, as it is sent. */
export interface ShippedQuery {
  /** Unique: `query blast-radius`, `alert A6`, `workbook wave`. */
  readonly name: string;
  readonly kind: 'function' | 'query' | 'alert' | 'workbook' | 'grafana';
  readonly of: 'workspace' | 'resource graph';
  readonly text: string;
}

/** Of what the dashboards show something, instead of what their users would click. */
export interface Shown {
  readonly now: Date;
  readonly eventId: string;
  /** Resource id of a group with VMs, in lower case. */
  readonly resourceGroupId: string;
}

const folder = (path: string): string => join(import.meta.dirname, '../..', path);
const kqlFiles = (path: string): readonly (readonly [name: string, text: string])[] =>
  readdirSync(folder(path))
    .filter((file) => file.endsWith('.kql'))
    .sort()
    .map((file) => [basename(file, '.kql'), readFileSync(join(folder(path), file), 'utf8')]);

/** Everything that asks the workspace or Azure Resource Graph: functions, queries, alert rules, the workbook and the Grafana dashboard. */
export const shippedQueries = (shown: Shown): readonly ShippedQuery[] => [
  ...kqlFiles('kql/functions').map(([name, text]) => ofWorkspace('function', name, callOf(name, text))),
  ...kqlFiles('kql/queries').map(([name, text]) => ofWorkspace('query', name, text)),
  ...alertRules().map(({ name, query }) => ofWorkspace('alert', name, query)),
  ...workbookQueries(readWorkbook(workbookPath), shown),
  ...grafanaQueries(shown),
];

const ofWorkspace = (kind: ShippedQuery['kind'], name: string, text: string): ShippedQuery => ({
  name: `${kind} ${name}`,
  kind,
  of: 'workspace',
  text,
});

/** Parameters without a default get one of their type. */
function callOf(name: string, body: string): string {
  const [, parameters = ''] = /^\/\/ params: \((.*)\)/.exec(body) ?? [];
  const values = parameters.split(/,\s*/).flatMap((parameter) => {
    if (parameter === '' || parameter.includes('=')) return [];
    const type = parameter.split(':')[1];
    return [type === 'datetime' ? 'ago(14d)' : '14d'];
  });
  return `${name}(${values.join(', ')})`;
}

/** A rule of `infra/alerts/alerts.yaml` with a query. */
export interface AlertRule {
  readonly name: string;
  readonly displayName: string;
  readonly enabled: boolean;
  readonly query: string;
}

/** Those that are raised by a row, then those that run at intervals. */
export function alertRules(): readonly AlertRule[] {
  const {
    rowAlerts,
    logAlerts,
  }: { readonly rowAlerts: readonly AlertRule[]; readonly logAlerts: readonly AlertRule[] } = parse(
    readFileSync(folder('alerts/alerts.yaml'), 'utf8'),
  );
  return [...rowAlerts, ...logAlerts];
}

const dashboardDays = 14;

function workbookQueries(workbook: Workbook, { now, eventId, resourceGroupId }: Shown): readonly ShippedQuery[] {
  const steps = stepsOf(workbook);
  const clicked = {
    ...clickedIn(steps),
    EventId: eventId,
    UpcomingEventId: eventId,
    ResourceGroupId: resourceGroupId,
  };
  const chosen = { days: dashboardDays, now, clicked };
  const ofSteps = steps.flatMap(({ name, content: { query, queryType } }) =>
    queryType === queryTypes.merge
      ? []
      : [{ name, query, of: queryType === queryTypes.graph ? ('resource graph' as const) : ('workspace' as const) }],
  );
  const ofParameters = workbook.items.flatMap((item) =>
    item.type === 9
      ? item.content.parameters.flatMap(({ name, query, queryType }) =>
          query === undefined || queryType !== queryTypes.logs
            ? []
            : [{ name: `parameter ${name}`, query, of: 'workspace' as const }],
        )
      : [],
  );
  return [...ofParameters, ...ofSteps].map(({ name, query, of }) => ({
    name: `workbook ${name}`,
    kind: 'workbook',
    of,
    text: withChosen(query, chosen),
  }));
}

/** The parts of the Grafana dashboard that ask something. */
interface GrafanaPanel {
  readonly title: string;
  readonly panels?: readonly GrafanaPanel[];
  readonly targets?: readonly {
    readonly refId: string;
    readonly azureLogAnalytics?: { readonly query: string };
    readonly azureResourceGraph?: { readonly query: string };
  }[];
}

function grafanaQueries({ now, ...clicked }: Shown): readonly ShippedQuery[] {
  const dashboard: { readonly panels: readonly GrafanaPanel[] } = JSON.parse(readFileSync(grafanaPath, 'utf8'));
  const from = new Date(now.getTime() - dashboardDays * 86_400_000);
  const all = dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
  return all.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, azureLogAnalytics, azureResourceGraph }) => ({
      name: `grafana ${title} (${refId})`,
      kind: 'grafana' as const,
      of: azureLogAnalytics === undefined ? ('resource graph' as const) : ('workspace' as const),
      text: withMacros(azureLogAnalytics?.query ?? azureResourceGraph?.query ?? '', from, now, clicked),
    })),
  );
}
