/** What a run has to be allowed to do in the subscription, and a built-in role that allows it. */
export const neededActions = [
  { action: 'Microsoft.Resources/subscriptions/resourceGroups/write', role: 'Contributor' },
  { action: 'Microsoft.Resources/subscriptions/resourceGroups/delete', role: 'Contributor' },
  { action: 'Microsoft.Resources/deployments/write', role: 'Contributor' },
  { action: 'Microsoft.Resources/deployments/whatIf/action', role: 'Contributor' },
  { action: 'Microsoft.EventHub/namespaces/write', role: 'Contributor' },
  { action: 'Microsoft.OperationalInsights/workspaces/write', role: 'Contributor' },
  { action: 'Microsoft.Insights/dataCollectionRules/write', role: 'Contributor' },
  { action: 'Microsoft.ManagedIdentity/userAssignedIdentities/assign/action', role: 'Contributor' },
  { action: 'Microsoft.Network/virtualNetworks/subnets/join/action', role: 'Contributor' },
  { action: 'Microsoft.Storage/storageAccounts/write', role: 'Contributor' },
  { action: 'Microsoft.Compute/galleries/applications/versions/write', role: 'Contributor' },
  { action: 'Microsoft.Compute/virtualMachines/write', role: 'Contributor' },
  { action: 'Microsoft.Compute/virtualMachines/runCommand/action', role: 'Contributor' },
  { action: 'Microsoft.Compute/virtualMachines/simulateEviction/action', role: 'Contributor' },
  { action: 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines/runCommand/action', role: 'Contributor' },
  { action: 'Microsoft.Authorization/roleAssignments/write', role: 'Role Based Access Control Administrator' },
  { action: 'Microsoft.Authorization/roleAssignments/delete', role: 'Role Based Access Control Administrator' },
] as const;

/** https://learn.microsoft.com/rest/api/authorization/permissions/list-for-resource */
export interface Permission {
  readonly actions?: readonly string[];
  readonly notActions?: readonly string[];
}

/** Whether one of the roles allows it: what another role excludes does not count. https://learn.microsoft.com/azure/role-based-access-control/role-definitions#notactions */
export const isAllowed = (action: string, permissions: readonly Permission[]): boolean =>
  permissions.some(
    ({ actions = [], notActions = [] }) =>
      actions.some((pattern) => matches(pattern, action)) && !notActions.some((pattern) => matches(pattern, action)),
  );

const matches = (pattern: string, action: string): boolean =>
  new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 'i').test(action);

/** The actions that are not allowed. */
export const missingActions = (permissions: readonly Permission[]): (typeof neededActions)[number][] =>
  neededActions.filter(({ action }) => !isAllowed(action, permissions));
