targetScope = 'subscription'

metadata name = 'Content'
metadata description = 'What people open and are called by: functions, queries, the workbook, the alerts and who is told. The texts stand in the folders kql, workbooks and alerts; to add one, name it here.'

import { metricTargetType } from '../bicep/modules/alerts.bicep'
import { alertRouteType, emailReceiverType, tagsType } from '../bicep/types.bicep'

@description('Required. Part of every name.')
param name string

@description('Required. Region of query pack and workbook.')
param location string

@description('Required. Tags of everything that has tags.')
param tags tagsType

@description('Required. Resource group of the platform.')
param resourceGroupName string

@description('Required. Resource id of the workspace, whose tables exist. Functions go there, wherever it is.')
param workspaceResourceId string

@description('Required. Region of the workspace, and of the alert rules over it.')
param workspaceLocation string

@description('Required. Who gets an e-mail when an alert is raised.')
param emails emailReceiverType[]

@description('Optional. Address of an on-call service that is called when an alert is raised. Such addresses hold a key, so it is a secret.')
@secure()
param onCallAddress string?

@description('Required. Resource ids of action groups that exist and are told as well.')
param actionGroupResourceIds string[]

@description('Required. Who is told of alerts about the VMs of one owner.')
param alertRoutes alertRouteType[]

@description('Required. Resource ids of resource groups, one in each other subscription with VMs, that take the routes.')
param alertRouteResourceGroupIds string[]

@description('Required. Namespaces that alerts by metric watch.')
param eventHubNamespaces metricTargetType[]

@description('Required. Subscriptions and regions whose VMs alerts by metric watch.')
param virtualMachines metricTargetType[]

var workspaceIdParts = split(workspaceResourceId, '/')
var alertRules = loadYamlContent('alerts/alerts.yaml')
var functions = [
  {
    name: 'VmLifecycleRecords'
    displayName: 'VM lifecycle records, each once'
    body: loadTextContent('kql/functions/VmLifecycleRecords.kql')
  }
  {
    name: 'VmLifecycleSights'
    displayName: 'Which VM saw which step'
    body: loadTextContent('kql/functions/VmLifecycleSights.kql')
  }
  {
    name: 'VmLifecycle'
    displayName: 'VM lifecycle events, folded over all VMs'
    body: loadTextContent('kql/functions/VmLifecycle.kql')
  }
  {
    name: 'VmEventTimeline'
    displayName: 'VM lifecycle events, one row per event and VM'
    body: loadTextContent('kql/functions/VmEventTimeline.kql')
  }
  {
    name: 'VmBridgeCoverage'
    displayName: 'Bridges and whether they are alive'
    body: loadTextContent('kql/functions/VmBridgeCoverage.kql')
  }
]
var queries = [
  {
    name: 'upcoming'
    displayName: 'What Azure will do next'
    body: loadTextContent('kql/queries/upcoming.kql')
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
    summary: 'What Azure announced for the VMs of the fleet, and what came of it.'
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
    eventHubNamespaces: eventHubNamespaces
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
