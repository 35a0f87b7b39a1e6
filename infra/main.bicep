targetScope = 'subscription'

metadata name = 'Platform'
metadata description = 'The platform: all destinations of the bridges of a fleet, with queries, dashboards and alerts. Deploy one for each tenant, cloud and geography. Costs: infra/costs.md. Required roles: infra/security.md. Removal: infra/deploy.md.'

import { deployedRuleName } from '../bicep/modules/data-collection-rule.bicep'
import { alertRouteType, bridgeSettingsType, captureType, dataExplorerType, deployedShardType, emailReceiverType, encryptionKeyType, eventHubNetworkType, eventHubSizeType, privateLinkType, readerType, shardType, tagsType } from '../bicep/types.bicep'

@description('Optional. Region of all resources without their own parameter. Cannot be changed later.')
param location string = deployment().location

@description('Optional. Part of every name. Cannot be changed later: with another name, a second platform is created.')
@minLength(2)
@maxLength(20)
param name string = 'vm-lifecycle'

@description('Optional. Resource group of the platform.')
param resourceGroupName string = 'rg-${name}'

@description('Optional. Tags of all resources that support tags.')
param tags tagsType = {}

@description('Optional. The shards. One is enough unless the fleet exceeds the limits of a namespace (5,000 connections on Standard) or of a rule (12,000 requests a minute); then use a shard for each region or for a few regions. All shards write to the same tables. You can add shards later; keep the first.')
@minLength(1)
param shards shardType[] = [
  {
    name: '1'
    location: location
    regions: [location]
  }
]

// ---------------------------------------------------------------------------
// Event Hubs
// ---------------------------------------------------------------------------

@description('Optional. Size of each namespace and its hub.')
param eventHubSize eventHubSizeType = {
  skuName: 'Standard'
  capacity: 1
  maximumThroughputUnits: 4
  partitionCount: 8
  retentionHours: 168
}

@description('Optional. Whether the namespaces are zone-redundant, in regions with zones.')
param zoneRedundant bool = true

@description('Optional. Networks from which the namespaces can be reached. Ignored with privateLink.')
param eventHubNetwork eventHubNetworkType = {
  publicNetworkAccess: 'Enabled'
  allowedIpRanges: []
  allowedSubnetResourceIds: []
}

@description('Optional. Who reads the records from the hubs.')
param readers readerType[] = []

// ---------------------------------------------------------------------------
// Log Analytics
// ---------------------------------------------------------------------------

@description('Optional. Resource id of an existing workspace for the tables; nothing else in it is changed. Empty: a new workspace.')
param existingWorkspaceResourceId string = ''

@description('Optional. Days for which rows can be queried.')
@minValue(30)
@maxValue(730)
param retentionDays int = 90

@description('Optional. Days for which rows are kept in total.')
@minValue(30)
@maxValue(4383)
param totalRetentionDays int = 365

// assumption: logs-daily-cap
@description('Optional. GB a day after which a new workspace stops ingestion until the next day; -1 = no limit. Azure drops rows above the limit.')
@minValue(-1)
param dailyQuotaGb int = -1

@description('Optional. Who may query the tables of the bridges, and no other table of the workspace.')
param tableReaders readerType[] = []

@description('Optional. Whether a new workspace can be queried from public networks.')
param publicNetworkAccessForQuery 'Enabled' | 'Disabled' = 'Enabled'

// ---------------------------------------------------------------------------
// Alerts
// ---------------------------------------------------------------------------

@description('Optional. Who gets an e-mail when an alert is raised.')
param alertEmails emailReceiverType[] = []

@description('Optional. Address of an on-call service that is called when an alert is raised. Such addresses contain a key, so it is a secret.')
@secure()
param onCallAddress string?

@description('Optional. Resource ids of existing action groups to notify as well.')
@maxLength(4)
param actionGroupResourceIds string[] = []

@description('Optional. Who receives alerts about the VMs of one owner, in addition to those above.')
param alertRoutes alertRouteType[] = []

@description('Optional. Resource ids of resource groups, one in each other subscription with VMs: an alert on a VM is routed by a rule in the subscription of the VM. The groups must exist.')
param alertRouteResourceGroupIds string[] = []

@description('Optional. Ids of the subscriptions whose VMs the alerts on VM metrics watch, in the regions of the shards. There is one rule for each subscription and region, and one charged time series for each VM. Instances of uniform scale sets are not included.')
param virtualMachineSubscriptionIds string[] = []

// ---------------------------------------------------------------------------
// Optional parts
// ---------------------------------------------------------------------------

@description('Optional. Capture of every record into an existing storage account.')
param capture captureType?

@description('Optional. A customer-managed key for the namespaces, with Premium. For the tables, Azure requires a dedicated cluster: link a workspace to one, and set existingWorkspaceResourceId.')
param encryptionKey encryptionKeyType?

@description('Optional. Whether the namespaces and a new workspace are locked against deletion. The person who deploys needs User Access Administrator.')
param lockAgainstDeletion bool = false

@description('Optional. A database of Azure Data Explorer that reads the hubs.')
param dataExplorer dataExplorerType?

@description('Optional. Private link. Going private later creates new rules, and needs a new configuration on every VM.')
param privateLink privateLinkType?

@description('Optional. Whether to send Azure\'s health events about the VMs of this subscription to a second hub, in the namespace of the first shard.')
param enableHealthEvents bool = false

var isPrivate = !empty(privateLink)
// Names of namespaces are unique in the whole cloud.
var unique = take(uniqueString(subscription().id, resourceGroupName), 6)
var namespaceNames = map(shards, shard => 'evhns-${name}-${shard.name}-${unique}')
var eventHubName = 'vm-lifecycle'
var ruleNames = map(shards, shard => 'dcr-${name}-${shard.name}')
var hasWorkspace = !empty(existingWorkspaceResourceId)
var workspaceIdParts = split(existingWorkspaceResourceId, '/')
var workspaceSubscriptionId = hasWorkspace ? workspaceIdParts[2] : subscription().subscriptionId
var workspaceResourceGroupName = hasWorkspace ? workspaceIdParts[4] : resourceGroupName
var workspaceName = hasWorkspace ? last(workspaceIdParts) : 'log-${name}'
var dataExplorerReader = {
  principalId: dataExplorer.?managedIdentityPrincipalId ?? ''
  principalType: 'ServicePrincipal'
}

// assumption: bicep-compiles, bicep-existing-resource
// Ids of the resources that the modules create, known before the deployment (https://github.com/Azure/bicep/issues/3017): what-if does not
// show resources that are named after outputs.
// A resource that uses one of these ids names the module that creates it in dependsOn.
resource deployedWorkspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' existing = {
  scope: resourceGroup(workspaceSubscriptionId, workspaceResourceGroupName)
  name: workspaceName
}

resource deployedNamespaces 'Microsoft.EventHub/namespaces@2024-01-01' existing = [
  for namespaceName in namespaceNames: {
    scope: resourceGroup(resourceGroupName)
    name: namespaceName
  }
]

resource deployedRules 'Microsoft.Insights/dataCollectionRules@2024-03-11' existing = [
  for ruleName in ruleNames: {
    scope: resourceGroup(resourceGroupName)
    name: deployedRuleName(ruleName, isPrivate)
  }
]

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: resourceGroupName
  location: location
  tags: tags
}

// ---------------------------------------------------------------------------
// Where records go
// ---------------------------------------------------------------------------

module identity '../bicep/modules/identity.bicep' = {
  scope: group
  params: {
    name: 'id-${name}'
    location: location
    tags: tags
  }
}

module hubs '../bicep/modules/event-hub.bicep' = [
  for (shard, index) in shards: {
    scope: group
    params: {
      name: namespaceNames[index]
      eventHubName: eventHubName
      location: shard.location
      tags: tags
      size: eventHubSize
      zoneRedundant: zoneRedundant
      capture: capture
      encryptionKey: encryptionKey
      lockAgainstDeletion: lockAgainstDeletion
      logsWorkspaceResourceId: deployedWorkspace.id
      network: isPrivate
        ? {
            publicNetworkAccess: 'Disabled'
            allowedIpRanges: []
            allowedSubnetResourceIds: []
          }
        : eventHubNetwork
    }
    dependsOn: [workspace]
  }
]

module workspace '../bicep/modules/log-analytics.bicep' = {
  scope: resourceGroup(workspaceSubscriptionId, workspaceResourceGroupName)
  params: {
    name: workspaceName
    exists: hasWorkspace
    location: location
    tags: tags
    retentionDays: retentionDays
    dailyQuotaGb: dailyQuotaGb
    publicNetworkAccessForIngestion: isPrivate ? 'Disabled' : 'Enabled'
    publicNetworkAccessForQuery: publicNetworkAccessForQuery
    lockAgainstDeletion: lockAgainstDeletion
  }
  dependsOn: [group]
}

module tables '../bicep/modules/tables.bicep' = {
  scope: resourceGroup(workspaceSubscriptionId, workspaceResourceGroupName)
  params: {
    workspaceName: workspaceName
    retentionDays: retentionDays
    totalRetentionDays: totalRetentionDays
  }
  dependsOn: [workspace]
}

module tableRoles '../bicep/modules/table-readers.bicep' = {
  scope: resourceGroup(workspaceSubscriptionId, workspaceResourceGroupName)
  params: {
    workspaceName: workspaceName
    readers: tableReaders
  }
  dependsOn: [workspace]
}

module rules '../bicep/modules/data-collection-rule.bicep' = [
  for ruleName in ruleNames: {
    scope: group
    params: {
      name: ruleName
      location: workspace.outputs.location
      tags: tags
      workspaceResourceId: workspace.outputs.resourceId
      isPrivate: isPrivate
    }
    // A rule names its tables only as text, and Azure refuses it while they are missing.
    dependsOn: [tables]
  }
]

module roles '../bicep/modules/role-assignments.bicep' = [
  for (shard, index) in shards: {
    scope: group
    params: {
      eventHubNamespaceName: namespaceNames[index]
      eventHubName: eventHubName
      dataCollectionRuleName: deployedRuleName(ruleNames[index], isPrivate)
      // An assignment is named after its principal: Azure refuses an existing name for an identity that was created again.
      #disable-next-line what-if-short-circuiting
      senderPrincipalId: identity.outputs.principalId
      readers: empty(dataExplorer) ? readers : concat(readers, [dataExplorerReader])
    }
    dependsOn: [
      hubs[index]
      rules[index]
    ]
  }
]

// ---------------------------------------------------------------------------
// Queries, dashboards and alerts
// ---------------------------------------------------------------------------

module content 'content.bicep' = {
  params: {
    name: name
    location: location
    tags: tags
    resourceGroupName: group.name
    workspaceResourceId: deployedWorkspace.id
    workspaceLocation: workspace.outputs.location
    watchActivityLog: workspaceSubscriptionId == subscription().subscriptionId
    emails: alertEmails
    onCallAddress: onCallAddress
    actionGroupResourceIds: actionGroupResourceIds
    alertRoutes: alertRoutes
    alertRouteResourceGroupIds: alertRouteResourceGroupIds
    shards: [
      for (shard, index) in shards: {
        name: shard.name
        location: shard.location
        regions: shard.regions
        namespaceResourceId: deployedNamespaces[index].id
        ruleResourceId: deployedRules[index].id
      }
    ]
    eventHubSize: eventHubSize
    virtualMachineSubscriptionIds: virtualMachineSubscriptionIds
  }
  // Queries name their tables only as text.
  dependsOn: [
    tables
    hubs
    rules
  ]
}

// ---------------------------------------------------------------------------
// Optional parts
// ---------------------------------------------------------------------------

module optional 'optional.bicep' = {
  params: {
    name: name
    tags: tags
    resourceGroupName: group.name
    namespaceNames: namespaceNames
    eventHubName: eventHubName
    ruleNames: ruleNames
    workspaceResourceId: deployedWorkspace.id
    // The names of the DNS zones are derived from hosts, which differ between clouds and are known only after the deployment.
    #disable-next-line what-if-short-circuiting
    fullyQualifiedNamespace: hubs[0].outputs.fullyQualifiedNamespace
    // The same.
    #disable-next-line what-if-short-circuiting
    logsIngestionEndpoint: rules[0].outputs.logsIngestionEndpoint
    privateLink: privateLink
    dataExplorer: dataExplorer
    enableHealthEvents: enableHealthEvents
  }
  // It uses resources that these create.
  dependsOn: [
    workspace
    hubs
    rules
    roles
  ]
}

@description('Settings of a bridge, for infra/vm.bicep and for infra/bridge-configuration.ts, which generates a configuration file from them. With several shards, those of the first.')
output settings bridgeSettingsType = {
  fullyQualifiedNamespace: hubs[0].outputs.fullyQualifiedNamespace
  eventHubName: hubs[0].outputs.eventHubName
  logsIngestionEndpoint: rules[0].outputs.logsIngestionEndpoint
  ruleId: rules[0].outputs.ruleId
  streamName: rules[0].outputs.streamName
  heartbeatStreamName: rules[0].outputs.heartbeatStreamName
  identityClientId: identity.outputs.clientId
  identityResourceId: identity.outputs.resourceId
}

@description('The settings for each shard, with the regions whose VMs write to it. Each is one of the platforms of infra/fleet.bicep.')
output shards deployedShardType[] = [
  for (shard, index) in shards: {
    name: shard.name
    regions: shard.regions
    settings: {
      fullyQualifiedNamespace: hubs[index].outputs.fullyQualifiedNamespace
      eventHubName: hubs[index].outputs.eventHubName
      logsIngestionEndpoint: rules[index].outputs.logsIngestionEndpoint
      ruleId: rules[index].outputs.ruleId
      streamName: rules[index].outputs.streamName
      heartbeatStreamName: rules[index].outputs.heartbeatStreamName
      identityClientId: identity.outputs.clientId
      identityResourceId: identity.outputs.resourceId
    }
  }
]

@description('Resource id of the resource group: delete it to remove the platform.')
output resourceGroupResourceId string = group.id

@description('Resource id of the workspace, to grant rights on its tables.')
output workspaceResourceId string = workspace.outputs.resourceId

@description('Principal id of the identity of the bridges, to find its role assignments.')
output identityPrincipalId string = identity.outputs.principalId

@description('Resource id of the workbook.')
output workbookResourceId string = content.outputs.workbookResourceId

@description('Resource id of the query pack.')
output queryPackResourceId string = content.outputs.queryPackResourceId

@description('Names of the alert rules.')
output alertNames string[] = content.outputs.alertNames
