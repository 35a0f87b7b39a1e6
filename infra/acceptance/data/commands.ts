import { argumentsOf, type InSubscription } from '../azure/arguments.ts';
import { queryRuleVersion } from '../azure/commands.ts';

/** Argument lists for the Azure CLI: queries, roles of the bridges, and what Azure says of the alert rules and the namespace. */

/**
 * Runs a query in a workspace; the body is a file with `{"query": "…"}`. A request, because the command for it is in an extension of the CLI.
 * https://learn.microsoft.com/azure/azure-monitor/logs/api/overview
 */
export const queryWorkspace = (workspaceId: string, bodyFile: string): readonly string[] =>
  argumentsOf('rest', {
    method: 'post',
    url: `https://api.loganalytics.io/v1/workspaces/${workspaceId}/query`,
    resource: 'https://api.loganalytics.io',
    headers: 'Content-Type=application/json',
    body: `@${bodyFile}`,
  });

/** Runs a query in Azure Resource Graph; the body is a file with `{"query": "…", "subscriptions": […]}`. */
export const queryResourceGraph = ({ subscription }: InSubscription, bodyFile: string): readonly string[] =>
  argumentsOf('rest', {
    method: 'post',
    url: '/providers/Microsoft.ResourceGraph/resources?api-version=2022-10-01',
    headers: 'Content-Type=application/json',
    body: `@${bodyFile}`,
    subscription,
  });

/** Who has a role exactly at this scope. */
export interface RoleAt {
  readonly scope: string;
  /** Its name. */
  readonly role: string;
  /** Object id of an identity or a user. */
  readonly principalId: string;
}

export const listRoleAssignments = ({ subscription }: InSubscription, { scope, role }: RoleAt): readonly string[] =>
  argumentsOf('role assignment list', { subscription, scope, role });

export const removeRoleAssignment = ({ subscription }: InSubscription, id: string): readonly string[] =>
  argumentsOf('role assignment delete', { subscription, ids: id });

/** A rule over the workspace, with all properties. By a request: the commands for these rules are in an extension of the CLI. */
export const showQueryRule = ({ subscription }: InSubscription, ruleId: string): readonly string[] =>
  argumentsOf('rest', { method: 'get', url: `${ruleId}?api-version=${queryRuleVersion}`, subscription });

/** Changes properties of a rule; the body is a file. */
export const patchQueryRule = ({ subscription }: InSubscription, ruleId: string, bodyFile: string): readonly string[] =>
  argumentsOf('rest', {
    method: 'patch',
    url: `${ruleId}?api-version=${queryRuleVersion}`,
    headers: 'Content-Type=application/json',
    body: `@${bodyFile}`,
    subscription,
  });

/** https://learn.microsoft.com/azure/azure-monitor/alerts/log-alert-rule-health */
export const showResourceHealth = ({ subscription }: InSubscription, resourceId: string): readonly string[] =>
  argumentsOf('rest', {
    method: 'get',
    url: `${resourceId}/providers/Microsoft.ResourceHealth/availabilityStatuses/current?api-version=2025-05-01`,
    subscription,
  });

/** Alerts that were raised in the last day. */
export const listRaisedAlerts = ({ subscription }: InSubscription, group: string): readonly string[] =>
  argumentsOf('rest', {
    method: 'get',
    url: `/subscriptions/${subscription}/providers/Microsoft.AlertsManagement/alerts?api-version=2019-05-05-preview&timeRange=1d&targetResourceGroup=${group}`,
    subscription,
  });

/** Of a resource, for each minute of the last hours. With `--start-time` alone, the CLI would ask for the one hour after it. */
export const listMetrics = (
  { subscription }: InSubscription,
  {
    resource,
    metrics,
    hours,
  }: { readonly resource: string; readonly metrics: readonly string[]; readonly hours: number },
): readonly string[] =>
  argumentsOf('monitor metrics list', {
    subscription,
    resource,
    metrics,
    offset: `${hours}h`,
    interval: 'PT1M',
    aggregation: ['Total', 'Average', 'Minimum', 'Maximum'],
  });
