import { shapeOfNotation } from './notation.ts';
import type { ObjectShape, Property, Shape } from './shape.ts';

/** A type of resource that is used here. */
export interface KnownResource {
  readonly versions: readonly string[];
  /** The properties that are used, in the words of `shapeOfNotation`. */
  readonly body: string;
  /** Where it can be deployed to, where that is not a resource group alone. */
  readonly scopes?: readonly ScopeName[];
}

/** Scopes of a deployment, as Azure numbers them: https://github.com/Azure/bicep-types (`ScopeType`). */
export const scopeBits = { tenant: 1, managementGroup: 2, subscription: 4, resourceGroup: 8, extension: 16 } as const;
export type ScopeName = keyof typeof scopeBits;
const anywhere: readonly ScopeName[] = ['tenant', 'managementGroup', 'subscription', 'resourceGroup', 'extension'];

/**
 * Every type that is used here, at which version, and with which properties: what can be checked where Azure's own
 * descriptions are not at hand. Where they are, a test says that the two agree.
 */
export const knownResources: Readonly<Record<string, KnownResource>> = {
  'Microsoft.AlertsManagement/actionRules': {
    versions: ['2021-08-08'],
    body: `
      name! location! tags properties(scopes! actions![actionGroupIds! actionType!] description enabled
      conditions[field operator values])`,
  },
  'Microsoft.Authorization/locks': {
    versions: ['2020-05-01'],
    scopes: anywhere,
    body: 'name! properties!(level! notes)',
  },
  'Microsoft.Authorization/policyAssignments': {
    versions: ['2025-03-01'],
    scopes: anywhere,
    body: `
      name! location identity(type =principalId) properties(displayName description metadata policyDefinitionId
      enforcementMode notScopes nonComplianceMessages[message!])`,
  },
  'Microsoft.Authorization/policyDefinitions': {
    versions: ['2025-03-01'],
    scopes: ['managementGroup', 'subscription'],
    body: 'name! properties(policyType mode displayName description metadata parameters policyRule)',
  },
  'Microsoft.Authorization/policySetDefinitions': {
    versions: ['2025-03-01'],
    scopes: ['managementGroup', 'subscription'],
    body: `
      name! properties(policyDefinitions![policyDefinitionId! policyDefinitionReferenceId parameters] policyType
      displayName description metadata)`,
  },
  'Microsoft.Authorization/roleAssignments': {
    versions: ['2022-04-01'],
    scopes: anywhere,
    body: `
      name! properties!(roleDefinitionId! principalId! principalType description condition conditionVersion)`,
  },
  'Microsoft.Authorization/roleDefinitions': {
    versions: ['2022-04-01'],
    scopes: anywhere,
    body: 'name!',
  },
  'Microsoft.Compute/galleries': {
    versions: ['2024-03-03'],
    body: 'name! location! tags identity(type userAssignedIdentities) properties(description)',
  },
  'Microsoft.Compute/galleries/applications': {
    versions: ['2024-03-03'],
    body: 'name! location! tags properties(supportedOSType! description)',
  },
  'Microsoft.Compute/galleries/applications/versions': {
    versions: ['2024-03-03'],
    body: `
      name! location! tags properties(publishingProfile!(source!(mediaLink! defaultConfigurationLink)
      manageActions(install! remove! update) settings(packageFileName configFileName scriptBehaviorAfterReboot)
      targetRegions[name! regionalReplicaCount storageAccountType] excludeFromLatest)
      safetyProfile(allowDeletionOfReplicatedLocations))`,
  },
  'Microsoft.Compute/virtualMachineScaleSets': {
    versions: ['2024-11-01'],
    body: 'name! location!',
  },
  'Microsoft.Compute/virtualMachineScaleSets/extensions': {
    versions: ['2024-11-01'],
    body: `
      name! properties(publisher type typeHandlerVersion autoUpgradeMinorVersion provisionAfterExtensions settings
      protectedSettings)`,
  },
  'Microsoft.Compute/virtualMachines': {
    versions: ['2024-11-01'],
    body: `
      name! location! tags identity(type userAssignedIdentities) properties(hardwareProfile(vmSize)
      storageProfile(imageReference osDisk(createOption! deleteOption managedDisk(storageAccountType)))
      osProfile(computerName adminUsername adminPassword linuxConfiguration(disablePasswordAuthentication
      ssh(publicKeys[path keyData])) windowsConfiguration(provisionVMAgent enableAutomaticUpdates
      patchSettings(patchMode))) securityProfile(securityType uefiSettings(secureBootEnabled vTpmEnabled))
      networkProfile(networkApiVersion networkInterfaceConfigurations[name! properties(ipConfigurations![name!
      properties(primary subnet(id))] primary deleteOption)]) diagnosticsProfile(bootDiagnostics(enabled))
      applicationProfile(galleryApplications[packageReferenceId! treatFailureAsDeploymentFailure
      enableAutomaticUpgrade]) scheduledEventsPolicy(userInitiatedReboot(automaticallyApprove)
      userInitiatedRedeploy(automaticallyApprove)) scheduledEventsProfile(terminateNotificationProfile(enable
      notBeforeTimeout) osImageNotificationProfile(enable notBeforeTimeout)))`,
  },
  'Microsoft.Compute/virtualMachines/extensions': {
    versions: ['2024-11-01'],
    body: `
      name! location! tags properties(publisher type typeHandlerVersion autoUpgradeMinorVersion protectedSettings)`,
  },
  'Microsoft.EventGrid/systemTopics': {
    versions: ['2025-02-15'],
    body: 'name! location! tags identity(type principalId) properties(source topicType)',
  },
  'Microsoft.EventGrid/systemTopics/eventSubscriptions': {
    versions: ['2025-02-15'],
    body: `
      name! properties(eventDeliverySchema filter(includedEventTypes) deliveryWithResourceIdentity(identity(type)
      destination(endpointType! properties(resourceId))))`,
  },
  'Microsoft.EventHub/namespaces': {
    versions: ['2024-01-01'],
    body: `
      name! location tags sku(name! tier capacity) identity(type userAssignedIdentities)
      properties(disableLocalAuth minimumTlsVersion publicNetworkAccess zoneRedundant isAutoInflateEnabled
      maximumThroughputUnits encryption(keySource keyVaultProperties[keyName keyVaultUri
      identity(userAssignedIdentity)]) =serviceBusEndpoint)`,
  },
  'Microsoft.EventHub/namespaces/eventhubs': {
    versions: ['2024-01-01'],
    body: `
      name! properties(partitionCount retentionDescription(cleanupPolicy retentionTimeInHours)
      captureDescription(enabled encoding intervalInSeconds sizeLimitInBytes skipEmptyArchives destination(name
      identity(type userAssignedIdentity) properties(storageAccountResourceId blobContainer archiveNameFormat))))`,
  },
  'Microsoft.EventHub/namespaces/eventhubs/consumergroups': {
    versions: ['2024-01-01'],
    body: 'name!',
  },
  'Microsoft.EventHub/namespaces/networkRuleSets': {
    versions: ['2024-01-01'],
    body: `
      name! properties(publicNetworkAccess defaultAction trustedServiceAccessEnabled ipRules[ipMask action]
      virtualNetworkRules[subnet(id) ignoreMissingVnetServiceEndpoint])`,
  },
  'Microsoft.Insights/actionGroups': {
    versions: ['2023-01-01'],
    body: `
      name! location! tags properties(groupShortName! enabled! emailReceivers[name! emailAddress!
      useCommonAlertSchema] webhookReceivers[name! serviceUri! useCommonAlertSchema])`,
  },
  'Microsoft.Insights/activityLogAlerts': {
    versions: ['2020-10-01'],
    body: `
      name! location tags properties(description enabled scopes! condition!(allOf![field equals])
      actions!(actionGroups[actionGroupId! webhookProperties]))`,
  },
  'Microsoft.Insights/dataCollectionEndpoints': {
    versions: ['2024-03-11'],
    body: `
      name! location! tags properties(description networkAcls(publicNetworkAccess) logsIngestion(=endpoint))`,
  },
  'Microsoft.Insights/dataCollectionRules': {
    versions: ['2024-03-11'],
    body: `
      name! location! tags kind properties(description streamDeclarations{columns[name type]}
      destinations(logAnalytics[name workspaceResourceId]) dataFlows[streams destinations transformKql
      outputStream] dataCollectionEndpointId =immutableId =endpoints(=logsIngestion))`,
  },
  'Microsoft.Insights/diagnosticSettings': {
    versions: ['2021-05-01-preview'],
    scopes: anywhere,
    body: 'name! properties(workspaceId logs[enabled! category])',
  },
  'Microsoft.Insights/metricAlerts': {
    versions: ['2018-03-01'],
    body: `
      name! properties!(severity! enabled! scopes! evaluationFrequency! windowSize! criteria!(odata.type!
      allOf[name! metricName! timeAggregation! operator! threshold! criterionType! metricNamespace]) description
      targetResourceType targetResourceRegion autoMitigate actions[actionGroupId webHookProperties]) location!
      tags`,
  },
  'Microsoft.Insights/privateLinkScopes/scopedResources': {
    versions: ['2021-07-01-preview'],
    body: 'name! properties(linkedResourceId)',
  },
  'Microsoft.Insights/scheduledQueryRules': {
    versions: ['2026-03-01', '2023-12-01'],
    body: `
      name! location! properties!(displayName description severity enabled scopes criteria(allOf[query
      timeAggregation metricMeasureColumn resourceIdColumn dimensions[name! operator! values!] operator threshold
      failingPeriods(numberOfEvaluationPeriods minFailingPeriodsToAlert)]) autoMitigate actions(actionGroups
      customProperties) evaluationFrequency windowSize overrideQueryTimeRange skipQueryValidation) tags kind`,
  },
  'Microsoft.Insights/workbooks': {
    versions: ['2023-06-01'],
    body: `
      name! location! tags kind properties(displayName! serializedData! category! description version sourceId)`,
  },
  'Microsoft.Kusto/clusters': {
    versions: ['2024-04-13'],
    body: 'name! sku! location!',
  },
  'Microsoft.Kusto/clusters/databases': {
    versions: ['2024-04-13'],
    body: 'name! kind!',
  },
  'Microsoft.Kusto/clusters/databases/dataConnections': {
    versions: ['2024-04-13'],
    body: `
      name! kind! location properties(eventHubResourceId! consumerGroup! tableName mappingRuleName dataFormat
      compression managedIdentityResourceId)`,
  },
  'Microsoft.Kusto/clusters/databases/scripts': {
    versions: ['2024-04-13'],
    body: 'name! properties(scriptContent continueOnErrors scriptLevel principalPermissionsAction)',
  },
  'Microsoft.ManagedIdentity/userAssignedIdentities': {
    versions: ['2024-11-30'],
    body: 'name! location! tags properties(=clientId =principalId)',
  },
  'Microsoft.Network/privateDnsZones': {
    versions: ['2024-06-01'],
    body: 'name! location tags',
  },
  'Microsoft.Network/privateDnsZones/virtualNetworkLinks': {
    versions: ['2024-06-01'],
    body: 'name! location tags properties(registrationEnabled virtualNetwork(id) resolutionPolicy)',
  },
  'Microsoft.Network/privateEndpoints': {
    versions: ['2024-05-01'],
    body: `
      name! location tags properties(subnet(id) privateLinkServiceConnections[name properties(privateLinkServiceId
      groupIds)])`,
  },
  'Microsoft.Network/privateEndpoints/privateDnsZoneGroups': {
    versions: ['2024-05-01'],
    body: 'name! properties(privateDnsZoneConfigs[name properties(privateDnsZoneId)])',
  },
  'Microsoft.OperationalInsights/queryPacks': {
    versions: ['2025-07-01'],
    body: 'name! properties! location! tags',
  },
  'Microsoft.OperationalInsights/queryPacks/queries': {
    versions: ['2025-07-01'],
    body: 'name! properties(displayName! body! description related(categories resourceTypes) tags)',
  },
  'Microsoft.OperationalInsights/workspaces': {
    versions: ['2025-07-01'],
    body: `
      name! location! tags properties(sku(name!) retentionInDays workspaceCapping(dailyQuotaGb)
      features(disableLocalAuth enableLogAccessUsingOnlyResourcePermissions) publicNetworkAccessForIngestion
      publicNetworkAccessForQuery)`,
  },
  'Microsoft.OperationalInsights/workspaces/savedSearches': {
    versions: ['2025-07-01'],
    body: 'name! properties!(category! displayName! query! functionAlias functionParameters version)',
  },
  'Microsoft.OperationalInsights/workspaces/tables': {
    versions: ['2025-07-01'],
    body: `
      name! properties(plan retentionInDays totalRetentionInDays schema(name columns[name type description]))`,
  },
  'Microsoft.PolicyInsights/remediations': {
    versions: ['2024-10-01'],
    scopes: anywhere,
    body: `
      name! properties(policyAssignmentId policyDefinitionReferenceId resourceDiscoveryMode resourceCount
      parallelDeployments failureThreshold(percentage))`,
  },
  'Microsoft.Resources/resourceGroups': {
    versions: ['2025-04-01'],
    scopes: ['subscription'],
    body: 'name! location! tags',
  },
  'microsoft.insights/privateLinkScopes': {
    versions: ['2021-07-01-preview'],
    body: 'name! properties!(accessModeSettings!(queryAccessMode! ingestionAccessMode!)) location!',
  },
};

const rows = new Map(Object.entries(knownResources).map(([type, row]) => [type.toLowerCase(), row]));

export const knownResource = (type: string): KnownResource | null => rows.get(type.toLowerCase()) ?? null;

/** The body of `type@version` as far as it is used here; null for another. */
export function knownBody(type: string, version: string): Shape | null {
  const row = knownResource(type);
  if (row === null || !row.versions.includes(version)) return null;
  const own: ObjectShape = shapeOfNotation(row.body);
  return { ...own, name: type, properties: new Map([...always, ...own.properties]) };
}

/** What every resource has, and Azure sets. */
const always = new Map<string, Property>(
  ['id', 'type', 'apiVersion'].map((name) => [name, { shape: { kind: 'string' }, required: false, readOnly: true }]),
);
