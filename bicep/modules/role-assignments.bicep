metadata name = 'Role assignments'
metadata description = 'The roles on one shard: bridges may send to the hub and to the rule, readers may receive from the hub. No other rights, no wider scope.'

// Free of charge; a subscription has a few thousand role assignments.
// assumption: role-takes-effect
// New assignments take up to 30 minutes to take effect; until then Azure refuses the bridges, which keep their records and retry.
// The names are made of scope, principal and role, so a second deployment changes nothing.

import { readerType } from '../types.bicep'

@description('Required. Name of the Event Hubs namespace, in this resource group.')
param eventHubNamespaceName string

@description('Required. Name of the hub.')
param eventHubName string

@description('Required. Name of the data collection rule, in this resource group.')
param dataCollectionRuleName string

@description('Required. Principal id of the identity of the bridges.')
param senderPrincipalId string

@description('Optional. Who reads from the hub. The bridges do not.')
param readers readerType[] = []

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' existing = {
  name: eventHubNamespaceName

  resource hub 'eventhubs' existing = {
    name: eventHubName
  }
}

resource rule 'Microsoft.Insights/dataCollectionRules@2024-03-11' existing = {
  name: dataCollectionRuleName
}

resource eventHubsDataSender 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: subscription()
  name: '2b629674-e913-4c01-ae53-ef4638d8f975'
}

resource eventHubsDataReceiver 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: subscription()
  name: 'a638d3c7-ab3a-418d-83e6-5f17a39d4fde'
}

resource monitoringMetricsPublisher 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: subscription()
  name: '3913510d-42f4-4e42-8a64-420c390055eb'
}

resource sendToHub 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(namespace::hub.id, senderPrincipalId, eventHubsDataSender.id)
  scope: namespace::hub
  properties: {
    principalId: senderPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: eventHubsDataSender.id
    description: 'Bridges write lifecycle records.'
  }
}

resource sendToRule 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(rule.id, senderPrincipalId, monitoringMetricsPublisher.id)
  scope: rule
  properties: {
    principalId: senderPrincipalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: monitoringMetricsPublisher.id
    description: 'Bridges write lifecycle records and heartbeats.'
  }
}

resource receiveFromHub 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for reader in readers: {
    name: guid(namespace::hub.id, reader.principalId, eventHubsDataReceiver.id)
    scope: namespace::hub
    properties: {
      principalId: reader.principalId
      principalType: reader.principalType
      roleDefinitionId: eventHubsDataReceiver.id
      description: 'Reads lifecycle records.'
    }
  }
]
