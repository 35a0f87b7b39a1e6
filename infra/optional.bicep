targetScope = 'subscription'

metadata name = 'Optional parts'
metadata description = 'The optional part of the platform: private link, a connection of Azure Data Explorer, and the health events of VMs. Deployed after the resources that they refer to.'

import { endpointName } from '../bicep/modules/data-collection-rule.bicep'
import { dataExplorerType, privateLinkType, tagsType } from '../bicep/types.bicep'

@description('Required. Part of every name.')
param name string

@description('Required. Tags of all resources that support tags.')
param tags tagsType

@description('Required. Resource group of the platform.')
param resourceGroupName string

@description('Required. Names of the namespaces, one for each shard.')
@minLength(1)
param namespaceNames string[]

@description('Required. Name of the hub in each of them.')
param eventHubName string

@description('Required. Names of the data collection rules, one for each shard.')
@minLength(1)
param ruleNames string[]

@description('Required. Resource id of the workspace.')
param workspaceResourceId string

@description('Required. Host of the first namespace.')
param fullyQualifiedNamespace string

@description('Required. Endpoint of the first rule.')
param logsIngestionEndpoint string

@description('Optional. Private link.')
param privateLink privateLinkType?

@description('Optional. A database of Azure Data Explorer that reads the hubs.')
param dataExplorer dataExplorerType?

@description('Required. Whether to send Azure\'s health events about VMs to a second hub.')
param enableHealthEvents bool

var isPrivate = !empty(privateLink)
var scopeResourceId = privateLink.?existingScopeResourceId ?? ''
var hasScope = !empty(scopeResourceId)
var scopeIdParts = split(scopeResourceId, '/')
var scopeSubscriptionId = hasScope ? scopeIdParts[2] : subscription().subscriptionId
var scopeResourceGroupName = hasScope ? scopeIdParts[4] : resourceGroupName
var scopeName = hasScope ? last(scopeIdParts) : 'ampls-${name}'
var hasDataExplorer = !empty(dataExplorer)
var clusterIdParts = split(dataExplorer.?clusterResourceId ?? '', '/')
var clusterSubscriptionId = hasDataExplorer ? clusterIdParts[2] : subscription().subscriptionId
var clusterResourceGroupName = hasDataExplorer ? clusterIdParts[4] : resourceGroupName

// assumption: bicep-existing-resource
// Known before the deployment, so that what-if shows resources that are named after them.
resource deployedNamespaces 'Microsoft.EventHub/namespaces@2024-01-01' existing = [
  for namespaceName in namespaceNames: {
    scope: resourceGroup(resourceGroupName)
    name: namespaceName
  }
]

resource deployedHubs 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' existing = [
  for (namespaceName, index) in namespaceNames: {
    parent: deployedNamespaces[index]
    name: eventHubName
  }
]

resource deployedEndpoints 'Microsoft.Insights/dataCollectionEndpoints@2024-03-11' existing = [
  for ruleName in ruleNames: {
    scope: resourceGroup(resourceGroupName)
    name: endpointName(ruleName)
  }
]

resource deployedScope 'microsoft.insights/privateLinkScopes@2021-07-01-preview' existing = {
  scope: resourceGroup(scopeSubscriptionId, scopeResourceGroupName)
  name: scopeName
}

module privateLinkScope '../bicep/modules/private-link-scope.bicep' = if (isPrivate && !hasScope) {
  scope: resourceGroup(resourceGroupName)
  params: {
    name: scopeName
  }
}

module privateLinkMembers '../bicep/modules/private-link-members.bicep' = if (isPrivate) {
  scope: resourceGroup(scopeSubscriptionId, scopeResourceGroupName)
  params: {
    scopeName: scopeName
    workspaceResourceId: workspaceResourceId
    endpointResourceIds: [for (ruleName, index) in ruleNames: deployedEndpoints[index].id]
  }
  dependsOn: [privateLinkScope]
}

module privateEndpoints '../bicep/modules/private-link.bicep' = if (isPrivate) {
  scope: resourceGroup(resourceGroupName)
  params: {
    location: privateLink!.location
    tags: tags
    subnetResourceId: privateLink!.subnetResourceId
    eventHubNamespaceResourceIds: [for (namespaceName, index) in namespaceNames: deployedNamespaces[index].id]
    fullyQualifiedNamespace: fullyQualifiedNamespace
    logsIngestionEndpoint: logsIngestionEndpoint
    // A network that uses a scope already has an endpoint for it.
    privateLinkScopeResourceId: hasScope ? '' : deployedScope.id
    createPrivateDnsZones: privateLink!.createPrivateDnsZones
    virtualNetworkResourceId: privateLink.?virtualNetworkResourceId ?? ''
    eventHubsZoneResourceId: privateLink.?eventHubsZoneResourceId ?? ''
    monitorZoneResourceId: privateLink.?monitorZoneResourceId ?? ''
  }
  dependsOn: [privateLinkMembers]
}

module dataExplorerConnection '../bicep/modules/adx-connection.bicep' = if (hasDataExplorer) {
  scope: resourceGroup(clusterSubscriptionId, clusterResourceGroupName)
  params: {
    clusterName: last(clusterIdParts)
    databaseName: dataExplorer!.databaseName
    location: dataExplorer!.location
    eventHubResourceIds: [for (namespaceName, index) in namespaceNames: deployedHubs[index].id]
    managedIdentityResourceId: dataExplorer!.managedIdentityResourceId
  }
}

module healthEvents '../bicep/modules/health-events.bicep' = if (enableHealthEvents) {
  scope: resourceGroup(resourceGroupName)
  params: {
    tags: tags
    eventHubNamespaceName: namespaceNames[0]
  }
}
