/** What a value must be. Where only Azure knows the value, nothing can be said, except for `is`: that is written out. */
export type Must =
  /** Exactly this value. */
  | { readonly is: string | boolean | number }
  | { readonly isNot: string | boolean | number }
  /** One of these texts, as they are spelled. */
  | { readonly oneOf: readonly string[] }
  /** A regular expression. */
  | { readonly matches: string }
  /** The text contains every one of these parts. */
  | { readonly contains: readonly string[] }
  | { readonly maxLength: number }
  | { readonly min: number }
  | { readonly max: number }
  /** Not less than the value at another path: a number, or a duration of ISO 8601. */
  | { readonly atLeast: string }
  /** One of these properties is there. */
  | { readonly hasOneOf: readonly string[] }
  /** One of the values at other paths. */
  | { readonly among: readonly string[] };

/** When a rule applies: always, or where a value of the same resource or of its parent, its target scope or the resource in `scope` is this. */
export interface When {
  /** A path and its value; `given` when it is present. */
  readonly path?: readonly [path: string, is: string | boolean];
  readonly parent?: readonly [path: string, is: string | boolean];
  readonly targetScope?: 'managementGroup' | 'subscription' | 'resourceGroup';
  /** Type of the resource that `scope` names, in lower case. */
  readonly on?: string;
}

/** What a service of Azure refuses though the type of the resource allows it. */
export interface ServiceRule {
  readonly type: string;
  /** `a.b`, with `[]` for each element of a list. */
  readonly path: string;
  readonly must: Must;
  readonly when?: When;
  /** Where Azure says so. */
  readonly source: string;
}

const learn = 'https://learn.microsoft.com/azure';

/** Types that are in no region. */
const inNoRegion: readonly (readonly [type: string, source: string])[] = [
  ['Microsoft.Insights/metricAlerts', `${learn}/templates/microsoft.insights/metricalerts`],
  ['microsoft.insights/privateLinkScopes', `${learn}/azure-monitor/fundamentals/private-link-configure`],
  ['Microsoft.Insights/activityLogAlerts', `${learn}/azure-monitor/alerts/resource-manager-alerts-activity-log`],
  ['Microsoft.Network/privateDnsZones', `${learn}/dns/private-dns-privatednszone`],
  ['Microsoft.Network/privateDnsZones/virtualNetworkLinks', `${learn}/dns/private-dns-virtual-network-links`],
];

/** Categories of logs, by the type of the resource: https://learn.microsoft.com/azure/azure-monitor/reference/logs-index */
const categories: Readonly<Record<string, readonly string[]>> = {
  'microsoft.insights/datacollectionrules': ['LogErrors'],
  'microsoft.eventhub/namespaces': [
    'ArchiveLogs',
    'OperationalLogs',
    'AutoScaleLogs',
    'KafkaCoordinatorLogs',
    'KafkaUserErrorLogs',
    'EventHubVNetConnectionEvent',
    'CustomerManagedKeyUserLogs',
    'RuntimeAuditLogs',
    'ApplicationMetricsLogs',
    'DataDRLogs',
    'DiagnosticErrorLogs',
  ],
  'microsoft.operationalinsights/workspaces': ['Audit', 'SummaryLogs', 'Jobs'],
};

/** Every rule, each with its source: to teach the checker another one, add a row and plant its fault in the tests. */
export const serviceRules: readonly ServiceRule[] = [
  ...inNoRegion.map(([type, source]) => ({ type, path: 'location', must: { is: 'global' }, source })),
  ...Object.entries(categories).map(([on, oneOf]) => ({
    type: 'Microsoft.Insights/diagnosticSettings',
    path: 'properties.logs[].category',
    must: { oneOf },
    when: { on },
    source: `${learn}/azure-monitor/reference/supported-logs/${on.replaceAll(/[./]/g, '-')}-logs`,
  })),
  {
    type: 'Microsoft.Network/privateEndpoints',
    path: 'properties.privateLinkServiceConnections[].properties.groupIds[]',
    must: { oneOf: ['namespace', 'azuremonitor', 'blob', 'vault'] },
    source: `${learn}/private-link/private-endpoint-overview#private-link-resource`,
  },
  {
    type: 'Microsoft.Insights/dataCollectionRules',
    path: 'properties.dataFlows[].destinations[]',
    must: { among: ['properties.destinations.logAnalytics[].name', 'properties.destinations.eventHubs[].name'] },
    source: `${learn}/azure-monitor/data-collection/data-collection-rule-structure#data-flows`,
  },
  {
    type: 'Microsoft.Authorization/policyAssignments',
    path: 'name',
    must: { maxLength: 24 },
    when: { targetScope: 'managementGroup' },
    source: `${learn}/azure-resource-manager/management/resource-name-rules#microsoftauthorization`,
  },
  {
    type: 'Microsoft.PolicyInsights/remediations',
    path: 'properties.resourceDiscoveryMode',
    must: { isNot: 'ReEvaluateCompliance' },
    when: { targetScope: 'managementGroup' },
    source: `${learn}/governance/policy/how-to/remediate-resources#step-3-create-a-remediation-task`,
  },
  {
    type: 'Microsoft.Compute/galleries/applications/versions',
    path: 'name',
    must: { matches: '^\\d+\\.\\d+\\.\\d+$' },
    source: `${learn}/virtual-machines/vm-applications#vm-application-packages`,
  },
  {
    type: 'Microsoft.OperationalInsights/workspaces/tables',
    path: 'properties.totalRetentionInDays',
    must: { atLeast: 'properties.retentionInDays' },
    source: `${learn}/azure-monitor/logs/data-retention-configure`,
  },
  {
    type: 'Microsoft.EventHub/namespaces',
    path: 'properties.isAutoInflateEnabled',
    must: { isNot: true },
    when: { path: ['sku.name', 'Premium'] },
    source: `${learn}/event-hubs/event-hubs-auto-inflate`,
  },
  {
    type: 'Microsoft.EventHub/namespaces',
    path: 'properties.encryption.keySource',
    must: { isNot: 'Microsoft.KeyVault' },
    when: { path: ['sku.name', 'Standard'] },
    source: `${learn}/event-hubs/configure-customer-managed-key`,
  },
  {
    type: 'Microsoft.EventHub/namespaces/eventhubs',
    path: 'properties.retentionDescription.retentionTimeInHours',
    must: { max: 168 },
    when: { parent: ['sku.name', 'Standard'] },
    source: `${learn}/event-hubs/event-hubs-quotas#basic-vs-standard-vs-premium-vs-dedicated-tiers`,
  },
  {
    type: 'Microsoft.EventHub/namespaces/eventhubs',
    path: 'properties.captureDescription.intervalInSeconds',
    must: { min: 60 },
    source: `${learn}/event-hubs/event-hubs-capture-overview#capture-windowing`,
  },
  {
    type: 'Microsoft.EventHub/namespaces/eventhubs',
    path: 'properties.captureDescription.intervalInSeconds',
    must: { max: 900 },
    source: `${learn}/event-hubs/event-hubs-capture-overview#capture-windowing`,
  },
  {
    type: 'Microsoft.EventHub/namespaces/eventhubs',
    path: 'properties.captureDescription.destination.properties.archiveNameFormat',
    must: {
      contains: ['Namespace', 'EventHub', 'PartitionId', 'Year', 'Month', 'Day', 'Hour', 'Minute', 'Second'].map(
        (part) => `{${part}}`,
      ),
    },
    source: `${learn}/event-hubs/event-hubs-capture-overview#how-event-hubs-capture-works`,
  },
  {
    type: 'Microsoft.Authorization/roleAssignments',
    path: 'properties.conditionVersion',
    must: { is: '2.0' },
    when: { path: ['properties.condition', 'given'] },
    source: `${learn}/role-based-access-control/conditions-role-assignments-template`,
  },
  {
    type: 'Microsoft.EventGrid/systemTopics',
    path: 'properties.topicType',
    must: {
      oneOf: [
        'microsoft.resourcenotifications.healthresources',
        'microsoft.resourcenotifications.maintenanceresources',
        'Microsoft.Resources.Subscriptions',
        'Microsoft.EventHub.Namespaces',
      ],
    },
    source: `${learn}/event-grid/event-schema-health-resources`,
  },
  {
    type: 'Microsoft.Insights/scheduledQueryRules',
    path: 'properties.autoMitigate',
    must: { is: false },
    when: { path: ['properties.muteActionsDuration', 'given'] },
    source: 'https://github.com/Azure/azure-powershell/issues/22583',
  },
  {
    type: 'Microsoft.Insights/scheduledQueryRules',
    path: 'properties.criteria.allOf[].failingPeriods.minFailingPeriodsToAlert',
    must: { min: 1 },
    source: 'https://github.com/Azure/azure-resource-manager-schemas/issues/1753',
  },
  {
    type: 'Microsoft.Insights/scheduledQueryRules',
    path: 'properties.criteria.allOf[].failingPeriods.numberOfEvaluationPeriods',
    must: { min: 1 },
    source: 'https://github.com/Azure/azure-resource-manager-schemas/issues/1753',
  },
  ...['metricAlerts', 'scheduledQueryRules'].map((kind) => ({
    type: `Microsoft.Insights/${kind}`,
    path: 'properties.windowSize',
    must: { atLeast: 'properties.evaluationFrequency' },
    source: `${learn}/azure-monitor/alerts/alerts-create-metric-alert-rule`,
  })),
  {
    type: 'Microsoft.Insights/scheduledQueryRules',
    path: 'properties.overrideQueryTimeRange',
    must: { atLeast: 'properties.windowSize' },
    source: `${learn}/azure-monitor/alerts/alerts-create-log-alert-rule`,
  },
  {
    type: 'Microsoft.Insights/diagnosticSettings',
    path: 'properties',
    must: { hasOneOf: ['workspaceId', 'storageAccountId', 'eventHubAuthorizationRuleId', 'marketplacePartnerId'] },
    source: `${learn}/azure-monitor/platform/diagnostic-settings#destinations`,
  },
  {
    type: 'Microsoft.Insights/actionGroups',
    path: 'properties.groupShortName',
    must: { maxLength: 12 },
    source: `${learn}/azure-monitor/alerts/action-groups`,
  },
  {
    type: 'Microsoft.OperationalInsights/workspaces/tables',
    path: 'name',
    must: { matches: '_CL$' },
    source: `${learn}/azure-monitor/logs/create-custom-table`,
  },
];
