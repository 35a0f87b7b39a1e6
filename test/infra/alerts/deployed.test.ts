import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allAlerts, readAlerts } from '../../support/alerts/read-alerts.ts';
import { root } from '../../support/source-tree.ts';
import { type Deployed, deployedBy } from '../../tools/bicep/deployed.ts';
import { textOf } from '../../tools/bicep/files.ts';
import { createProject } from '../../tools/bicep/project.ts';

const alerts = readAlerts();
const all = allAlerts(alerts);

/** What a parameter file of these lines, beside those of `params/small.bicepparam`, would deploy. */
function deployed(...parameters: readonly string[]): readonly Deployed[] {
  const path = 'infra/params/alerts-here.bicepparam';
  const given = `${textOf('infra/params/small.bicepparam')}\n${parameters.join('\n')}\n`;
  return deployedBy(
    createProject((name) => (name === path ? given : textOf(name)), null),
    path,
  );
}

interface Rule {
  readonly name: string;
  readonly kind?: string;
  readonly properties: {
    readonly displayName?: string;
    readonly severity: number;
    readonly enabled: boolean;
    readonly autoMitigate: boolean;
    readonly scopes: readonly string[];
    readonly criteria: { readonly allOf: readonly Readonly<Record<string, unknown>>[] };
    readonly actions: { readonly customProperties?: Readonly<Record<string, string>> } | readonly unknown[];
    readonly [name: string]: unknown;
  };
}

/** Through JSON, as Azure gets it. */
const asSent = (body: unknown): Rule => JSON.parse(JSON.stringify(body));

const rulesOf = (resources: readonly Deployed[], type: string): readonly Rule[] =>
  resources.filter((resource) => resource.type === type).map(({ body }) => asSent(body));

const subscription = '11111111-2222-4333-8444-555555555555';
const platform = deployed(`param virtualMachineSubscriptionIds = ['${subscription}']`);
const queryRules = rulesOf(platform, 'Microsoft.Insights/scheduledQueryRules');
const metricRules = rulesOf(platform, 'Microsoft.Insights/metricAlerts');
const activityRules = rulesOf(platform, 'Microsoft.Insights/activityLogAlerts');
const longestFirst = all.map(({ name }) => name).toSorted((a, b) => b.length - a.length);
const idOf = ({ name }: Rule): string | undefined =>
  longestFirst.find((id) => `${name}-`.startsWith(`vm-lifecycle-${id}-`));

describe('the deployed alerts', () => {
  test('are the alerts of the data, each once', () => {
    const { rowAlerts, logAlerts } = alerts;
    const named = (kind: string): string[] => queryRules.filter((rule) => rule.kind === kind).map(({ name }) => name);
    expect(named('SimpleLogAlert')).toEqual(rowAlerts.map(({ name }) => `vm-lifecycle-${name}`));
    expect(named('LogAlert')).toEqual(logAlerts.map(({ name }) => `vm-lifecycle-${name}`));
    expect(queryRules).toHaveLength(rowAlerts.length + logAlerts.length);
  });

  test('is taken by Azure before it knows the new tables: no query is checked at deployment', () => {
    expect(queryRules.filter(({ properties }) => properties.skipQueryValidation !== true)).toEqual([]);
  });

  test.for(all.filter((alert) => !('operationName' in alert)))(
    'has the severity, the state and the card of $name',
    ({ name, ...alert }) => {
      const rules = [...queryRules, ...metricRules].filter((rule) => idOf(rule) === name);
      expect(rules.length).toBeGreaterThan(0);
      for (const { properties } of rules) {
        const { severity, enabled, autoMitigate, actions } = properties;
        expect({ severity, enabled, autoMitigate }).toEqual({
          severity: alert.severity,
          enabled: alert.enabled,
          autoMitigate: alert.autoMitigate,
        });
        const card = Array.isArray(actions) ? actions[0]?.webHookProperties : Object(actions).customProperties;
        expect(card).toEqual(alert.onCall);
      }
    },
  );

  test.for(alerts.logAlerts)('$name runs its query, splits by its dimensions and compares', (alert) => {
    const rule = queryRules.find(({ name }) => name === `vm-lifecycle-${alert.name}`);
    expect(rule?.properties).toMatchObject({
      evaluationFrequency: alert.evaluationFrequency,
      windowSize: alert.windowSize,
      overrideQueryTimeRange: alert.overrideQueryTimeRange ?? null,
    });
    expect(rule?.properties.criteria.allOf).toEqual([
      expect.objectContaining({
        query: alert.query,
        timeAggregation: alert.timeAggregation ?? 'Count',
        metricMeasureColumn: alert.metricMeasureColumn ?? null,
        resourceIdColumn: alert.resourceIdColumn ?? null,
        dimensions: (alert.dimensions ?? []).map((name) => ({ name, operator: 'Include', values: ['*'] })),
        operator: alert.operator,
        threshold: alert.threshold,
      }),
    ]);
  });
});

describe('alerts by metric', () => {
  test('watch each namespace, and VMs only in subscriptions that are named', () => {
    const names = (rules: readonly Rule[]): string[] => rules.map(({ name }) => name).sort();
    const ofPlatform = alerts.metricAlerts.flatMap(({ name, targetKind }) =>
      targetKind === 'virtualMachines' ? [] : [`vm-lifecycle-${name}-1`],
    );
    expect(names(metricRules)).toEqual([...ofPlatform, 'vm-lifecycle-A11-westeurope-11111111'].sort());
    expect(names(rulesOf(deployed(), 'Microsoft.Insights/metricAlerts'))).toEqual(ofPlatform.sort());
  });

  const size = (skuName: string, capacity: number): string =>
    `param eventHubSize = {\n  skuName: '${skuName}'\n  capacity: ${capacity}\n  maximumThroughputUnits: 4\n  partitionCount: 8\n  retentionHours: 168\n}`;

  test.for([
    { skuName: 'Standard', capacity: 8, threshold: 4000 },
    { skuName: 'Premium', capacity: 1, threshold: 8000 },
    { skuName: 'Premium', capacity: 4, threshold: 32_000 },
  ])('A12 is raised at $threshold connections of $skuName with capacity $capacity', (given) => {
    const small = textOf('infra/params/small.bicepparam') ?? '';
    expect(small).not.toContain('param eventHubSize');
    const rules = rulesOf(deployed(size(given.skuName, given.capacity)), 'Microsoft.Insights/metricAlerts');
    const rule = rules.find((one) => idOf(one) === 'A12');
    expect(rule?.properties.criteria.allOf[0]).toMatchObject({
      metricName: 'ActiveConnections',
      threshold: given.threshold,
    });
  });
});

describe('alerts by the activity log', () => {
  test('watch the workspace and the rules beside them, with their card', () => {
    expect(activityRules.map(({ name }) => name)).toEqual(
      alerts.activityAlerts.map(({ name }) => `vm-lifecycle-${name}`),
    );
    const scopes = { workspace: '«deployedWorkspace.id»', alertRules: '«resourceGroup().id»' };
    for (const { operationName, enabled, onCall, name, targetKind } of alerts.activityAlerts) {
      const rule = activityRules.find((one) => idOf(one) === name);
      expect(rule?.properties).toMatchObject({
        enabled,
        scopes: [scopes[targetKind]],
        condition: { allOf: expect.arrayContaining([{ field: 'operationName', equals: operationName }]) },
        actions: { actionGroups: [{ webhookProperties: onCall }] },
      });
    }
  });

  test('of the workspace are omitted in another subscription, where they cannot see its log', () => {
    const elsewhere =
      '/subscriptions/99999999-2222-4333-8444-555555555555/resourceGroups/rg/providers/Microsoft.OperationalInsights/workspaces/log';
    const rules = deployed(`param existingWorkspaceResourceId = '${elsewhere}'`);
    const left = rulesOf(rules, 'Microsoft.Insights/activityLogAlerts').map(idOf);
    expect(left).toEqual(
      alerts.activityAlerts.filter((alert) => alert.targetKind !== 'workspace').map(({ name }) => name),
    );
    expect(left).toEqual(['A23']);
  });
});

describe('routes', () => {
  const group = '/subscriptions/66666666-7777-4888-9999-000000000000/resourceGroups/rg-routes';
  const team = `/subscriptions/${subscription}/resourceGroups/rg-web/providers/Microsoft.Insights/actionGroups/ag-web`;
  const route = `param alertRoutes = [\n  {\n    name: 'web'\n    owner: 'web-team'\n    actionGroupResourceIds: ['${team}']\n  }\n]`;
  const rulesWith = (...parameters: readonly string[]) =>
    rulesOf(deployed(...parameters), 'Microsoft.AlertsManagement/actionRules').map(({ properties }) => properties);

  test('are absent without recipients', () => {
    expect(rulesWith()).toEqual([]);
    expect(rulesWith(`param alertRouteResourceGroupIds = ['${group}']`)).toEqual([]);
  });

  test('notify the owners of a VM by the tag that the queries return, in addition to the others', () => {
    const [rule, ...others] = rulesWith(route);
    expect(others).toEqual([]);
    expect(rule).toMatchObject({
      enabled: true,
      conditions: [{ field: 'AlertContext', operator: 'Contains', values: ['owner:web-team;'] }],
      actions: [{ actionType: 'AddActionGroups', actionGroupIds: [team] }],
    });
    const marked = [...alerts.rowAlerts, ...alerts.logAlerts].filter(({ query }) => query.includes('Route'));
    expect(marked.length).toBeGreaterThan(5);
    for (const { name, query } of marked) {
      expect(query, name).toMatch(/Route = strcat\('owner:', (tostring\(Tags\.owner\)|Owner), ';'\)/);
    }
  });

  test('are deployed to each other subscription too', () => {
    expect(rulesWith(route, `param alertRouteResourceGroupIds = ['${group}']`)).toHaveLength(2);
  });
});

test('the cards of on-call.md have the alerts of the data, with their severities and their words', () => {
  const text = readFileSync(join(root, 'infra/alerts/on-call.md'), 'utf8');
  for (const { name, displayName, onCall } of all) {
    expect(text, name).toContain(`## ${name}: ${displayName}\n\n${onCall.meaning}\n`);
    expect(text, name).toContain(onCall.whatToDo);
  }
  const list = readFileSync(join(root, 'infra/alerts/README.md'), 'utf8');
  const table = new Map(
    [...list.matchAll(/^\| \[(A[\w-]+)\]\(\S+\) \| (\d) \w+ \| (on|off) \|/gm)].map((row) => [row[1], row.slice(2)]),
  );
  expect(table).toEqual(
    new Map(all.map(({ name, severity, enabled }) => [name, [String(severity), enabled ? 'on' : 'off']])),
  );
});
