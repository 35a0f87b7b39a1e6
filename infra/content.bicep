targetScope = 'subscription'

metadata name = 'Content'
metadata description = 'Functions, queries, the workbook, the alerts and their recipients. The texts are in the folders kql, workbooks and alerts; to add one, name it here.'

import { alertRouteType, emailReceiverType, eventHubSizeType, tagsType } from '../bicep/types.bicep'

@description('Required. Part of every name.')
param name string

@description('Required. Region of query pack and workbook.')
param location string

@description('Required. Tags of all resources that support tags.')
param tags tagsType

@description('Required. Resource group of the platform.')
param resourceGroupName string

@description('Required. Resource id of the workspace, in which the tables exist. Functions are deployed there, whichever resource group it is in.')
param workspaceResourceId string

@description('Required. Region of the workspace, and of the alert rules over it.')
param workspaceLocation string

@description('Required. Who gets an e-mail when an alert is raised.')
param emails emailReceiverType[]

@description('Optional. Address of an on-call service that is called when an alert is raised. Such addresses contain a key, so it is a secret.')
@secure()
param onCallAddress string?

@description('Required. Resource ids of existing action groups to notify as well.')
param actionGroupResourceIds string[]

@description('Required. Who receives alerts about the VMs of one owner.')
param alertRoutes alertRouteType[]

@description('Required. Resource ids of resource groups for the routes, one in each other subscription with VMs.')
param alertRouteResourceGroupIds string[]

@description('Required. Whether to watch the activity log of the workspace. This is possible only in the subscription of the platform.')
param watchActivityLog bool

@description('Required. The shards, whose namespaces and rules metric alerts watch.')
param shards shardResourcesType[]

@description('Required. Size of each namespace.')
param eventHubSize eventHubSizeType

@description('Required. Ids of the subscriptions whose VMs metric alerts watch, in the regions of the shards.')
param virtualMachineSubscriptionIds string[]

@description('A shard as alerts see it.')
type shardResourcesType = {
  @description('Required. Name of the shard.')
  name: string

  @description('Required. Region of its namespace.')
  location: string

  @description('Required. Regions whose VMs write to it.')
  regions: string[]

  @description('Required. Resource id of its namespace.')
  namespaceResourceId: string

  @description('Required. Resource id of its data collection rule.')
  ruleResourceId: string
}

var workspaceIdParts = split(workspaceResourceId, '/')
var alertRules = loadYamlContent('alerts/alerts.yaml')
var functions = [
  {
    name: 'VmLifecycleRecords'
    displayName: 'VM lifecycle records without duplicates'
    body: loadTextContent('kql/functions/VmLifecycleRecords.kql')
  }
  {
    name: 'VmLifecycleSights'
    displayName: 'VM lifecycle steps by VM'
    body: loadTextContent('kql/functions/VmLifecycleSights.kql')
  }
  {
    name: 'VmLifecycle'
    displayName: 'VM lifecycle steps, merged over all VMs'
    body: loadTextContent('kql/functions/VmLifecycle.kql')
  }
  {
    name: 'VmEventTimeline'
    displayName: 'VM lifecycle events, one row per event and VM'
    body: loadTextContent('kql/functions/VmEventTimeline.kql')
  }
  {
    name: 'VmBridgeCoverage'
    displayName: 'Bridges and their health'
    body: loadTextContent('kql/functions/VmBridgeCoverage.kql')
  }
  {
    name: 'VmEventStates'
    displayName: 'Last report of each VM about each event, for alert rules'
    body: loadTextContent('kql/functions/VmEventStates.kql')
  }
]
var eventHubNamespaces = map(shards, shard => {
  name: shard.name
  kind: 'eventHubNamespace'
  resourceId: shard.namespaceResourceId
  resourceType: 'Microsoft.EventHub/namespaces'
  location: shard.location
  // assumption: hub-connections
  // https://learn.microsoft.com/azure/event-hubs/event-hubs-quotas
  connectionLimit: eventHubSize.skuName == 'Premium' ? 10000 * eventHubSize.capacity : 5000
})
var dataCollectionRules = map(shards, shard => {
  name: shard.name
  kind: 'dataCollectionRule'
  resourceId: shard.ruleResourceId
  resourceType: 'Microsoft.Insights/dataCollectionRules'
})
var virtualMachines = flatten(map(virtualMachineSubscriptionIds, subscriptionId =>
  map(flatten(map(shards, shard => shard.regions)), region => {
    name: '${region}-${take(subscriptionId, 8)}'
    kind: 'virtualMachines'
    resourceId: '/subscriptions/${subscriptionId}'
    resourceType: 'Microsoft.Compute/virtualMachines'
    location: region
  })))
// In the order in which a person on call needs them: upcoming, in progress, past events, statistics, health of the pipeline.
var queries = [
  {
    name: 'upcoming'
    displayName: 'What Azure will do next'
    body: loadTextContent('kql/queries/upcoming.kql')
  }
  {
    name: 'next-hour'
    displayName: 'What affects my VMs in the next hour'
    body: loadTextContent('kql/queries/next-hour.kql')
  }
  {
    name: 'due-in-order'
    displayName: 'Due in two days, announced long ago'
    body: loadTextContent('kql/queries/due-in-order.kql')
  }
  {
    name: 'in-progress'
    displayName: 'What Azure is doing now, or just did'
    body: loadTextContent('kql/queries/in-progress.kql')
  }
  {
    name: 'stuck'
    displayName: 'Events that do not end'
    body: loadTextContent('kql/queries/stuck.kql')
  }
  {
    name: 'not-back'
    displayName: 'VMs that did not come back'
    body: loadTextContent('kql/queries/not-back.kql')
  }
  {
    name: 'wave-progress'
    displayName: 'Progress of Azure through each scale set'
    body: loadTextContent('kql/queries/wave-progress.kql')
  }
  {
    name: 'vm-history'
    displayName: 'What happened to a VM'
    body: loadTextContent('kql/queries/vm-history.kql')
  }
  {
    name: 'touched-between'
    displayName: 'VMs that Azure interrupted between two times'
    body: loadTextContent('kql/queries/touched-between.kql')
  }
  {
    name: 'support-case'
    displayName: 'Details of an event for a support case'
    body: loadTextContent('kql/queries/support-case.kql')
  }
  {
    name: 'no-notice'
    displayName: 'Events without any warning'
    body: loadTextContent('kql/queries/no-notice.kql')
  }
  {
    name: 'correlated'
    displayName: 'Many VMs of a scale set at once'
    body: loadTextContent('kql/queries/correlated.kql')
  }
  {
    name: 'two-fault-domains-at-once'
    displayName: 'Two fault domains of a set down at once'
    body: loadTextContent('kql/queries/two-fault-domains-at-once.kql')
  }
  {
    name: 'outages-with-warning'
    displayName: 'Outages, and whether they were announced'
    body: loadTextContent('kql/queries/outages-with-warning.kql')
  }
  {
    name: 'warned-share-by-cause'
    displayName: 'Share of outages that were announced, by cause'
    body: loadTextContent('kql/queries/warned-share-by-cause.kql')
  }
  {
    name: 'who-asked-for-it'
    displayName: 'Who requested user-initiated events'
    body: loadTextContent('kql/queries/who-asked-for-it.kql')
  }
  {
    name: 'approvals'
    displayName: 'Approvals and what they saved'
    body: loadTextContent('kql/queries/approvals.kql')
  }
  {
    name: 'announced-but-never-happened'
    displayName: 'Announced and never happened'
    body: loadTextContent('kql/queries/announced-but-never-happened.kql')
  }
  {
    name: 'notice-given'
    displayName: 'Notice given, by type'
    body: loadTextContent('kql/queries/notice-given.kql')
  }
  {
    name: 'notice-below-minimum'
    displayName: 'Less notice than documented'
    body: loadTextContent('kql/queries/notice-below-minimum.kql')
  }
  {
    name: 'freezes'
    displayName: 'How long freezes last, by size'
    body: loadTextContent('kql/queries/freezes.kql')
  }
  {
    name: 'advertised-against-measured'
    displayName: 'Advertised and measured interruption'
    body: loadTextContent('kql/queries/advertised-against-measured.kql')
  }
  {
    name: 'reboots-that-were-freezes'
    displayName: 'Reboots that were freezes'
    body: loadTextContent('kql/queries/reboots-that-were-freezes.kql')
  }
  {
    name: 'downtime-by-set'
    displayName: 'Minutes of downtime by scale set'
    body: loadTextContent('kql/queries/downtime-by-set.kql')
  }
  {
    name: 'region-by-hour'
    displayName: 'Seconds lost by region and hour'
    body: loadTextContent('kql/queries/region-by-hour.kql')
  }
  {
    name: 'blast-radius'
    displayName: 'VMs in one event'
    body: loadTextContent('kql/queries/blast-radius.kql')
  }
  {
    name: 'host-moves'
    displayName: 'Hosts that VMs are moved away from'
    body: loadTextContent('kql/queries/host-moves.kql')
  }
  {
    name: 'noisiest-vms'
    displayName: 'VMs with most events'
    body: loadTextContent('kql/queries/noisiest-vms.kql')
  }
  {
    name: 'spot-evictions'
    displayName: 'Spot evictions by size, zone and hour'
    body: loadTextContent('kql/queries/spot-evictions.kql')
  }
  {
    name: 'spot-survival'
    displayName: 'Spot evictions per 100 VM-days'
    body: loadTextContent('kql/queries/spot-survival.kql')
  }
  {
    name: 'daily-trend'
    displayName: 'Events a day'
    body: loadTextContent('kql/queries/daily-trend.kql')
  }
  {
    name: 'coverage'
    displayName: 'VMs without a healthy bridge'
    body: loadTextContent('kql/queries/coverage.kql')
  }
  {
    name: 'versions-by-ring'
    displayName: 'Bridge versions by ring'
    body: loadTextContent('kql/queries/versions-by-ring.kql')
  }
  {
    name: 'pipeline-latency'
    displayName: 'How late records are'
    body: loadTextContent('kql/queries/pipeline-latency.kql')
  }
  {
    name: 'pipeline-integrity'
    displayName: 'Duplicates and missing steps'
    body: loadTextContent('kql/queries/pipeline-integrity.kql')
  }
  {
    name: 'position-gaps'
    displayName: 'Records that never arrived'
    body: loadTextContent('kql/queries/position-gaps.kql')
  }
]

module savedFunctions '../bicep/modules/functions.bicep' = {
  scope: resourceGroup(workspaceIdParts[2], workspaceIdParts[4])
  params: {
    workspaceName: last(workspaceIdParts)
    functions: functions
  }
}

module queryPack '../bicep/modules/query-pack.bicep' = {
  scope: resourceGroup(resourceGroupName)
  params: {
    name: 'pack-${name}'
    location: location
    tags: tags
    queries: queries
  }
}

module workbook '../bicep/modules/workbook.bicep' = {
  scope: resourceGroup(resourceGroupName)
  params: {
    name: 'fleet'
    displayName: 'VM lifecycle'
    summary: 'What Azure announced for the VMs of the fleet, and how it ended.'
    location: location
    tags: tags
    workspaceResourceId: workspaceResourceId
    content: loadTextContent('workbooks/fleet.workbook')
  }
}

module actionGroup '../bicep/modules/action-group.bicep' = {
  scope: resourceGroup(resourceGroupName)
  params: {
    name: 'ag-${name}'
    tags: tags
    emails: emails
    onCallAddress: onCallAddress
  }
}

module alerts '../bicep/modules/alerts.bicep' = {
  scope: resourceGroup(resourceGroupName)
  params: {
    namePrefix: name
    location: workspaceLocation
    tags: tags
    workspaceResourceId: workspaceResourceId
    actionGroupResourceIds: concat([actionGroup.outputs.resourceId], actionGroupResourceIds)
    rowAlerts: alertRules.rowAlerts
    logAlerts: alertRules.logAlerts
    metricAlerts: alertRules.metricAlerts
    activityAlerts: filter(
      alertRules.activityAlerts,
      alert => watchActivityLog || alert.targetKind != 'workspace'
    )
    eventHubNamespaces: eventHubNamespaces
    dataCollectionRules: dataCollectionRules
    virtualMachines: virtualMachines
  }
  // Alerts call the functions by name.
  dependsOn: [savedFunctions]
}

module alertRoutesHere '../bicep/modules/alert-routes.bicep' = if (!empty(alertRoutes)) {
  scope: resourceGroup(resourceGroupName)
  params: {
    namePrefix: name
    tags: tags
    routes: alertRoutes
  }
}

module alertRoutesElsewhere '../bicep/modules/alert-routes.bicep' = [
  for groupId in (empty(alertRoutes) ? [] : alertRouteResourceGroupIds): {
    scope: resourceGroup(split(groupId, '/')[2], split(groupId, '/')[4])
    params: {
      namePrefix: name
      tags: tags
      routes: alertRoutes
    }
  }
]

@description('Resource id of the query pack.')
output queryPackResourceId string = queryPack.outputs.resourceId

@description('Resource id of the workbook.')
output workbookResourceId string = workbook.outputs.resourceId

@description('Names of the alert rules.')
output alertNames string[] = alerts.outputs.names
