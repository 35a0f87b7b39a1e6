metadata name = 'Health events'
metadata description = 'Sends Azure\'s health events about the VMs of this subscription to a second hub: availability and annotations, including those of VMs that are down.'

// Costs: a small amount for each million events, and the hub.
// The feed is a preview of Azure.
// Cannot be changed later: subscription and kind of the topic.
// A subscription can have one such topic: if it exists, this deployment fails.
// Its deployment needs Microsoft.ResourceNotifications/systemTopics/subscribeToHealthResources/action.

import { tagsType } from '../types.bicep'

@description('Optional. Name of the topic.')
@minLength(3)
@maxLength(50)
param name string = 'evgt-vm-health'

@description('Optional. Tags of the topic.')
param tags tagsType = {}

@description('Required. Name of the Event Hubs namespace, in this resource group.')
param eventHubNamespaceName string

@description('Optional. Name of the new hub. Not the hub of the lifecycle records, whose readers expect only those.')
param eventHubName string = 'vm-health'

@description('Optional. Partitions of the hub. Cannot be changed later on Standard.')
@minValue(1)
@maxValue(32)
param partitionCount int = 4

@description('Optional. How long the hub keeps an event, in hours.')
@minValue(1)
@maxValue(168)
param retentionHours int = 72

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' existing = {
  name: eventHubNamespaceName

  resource hub 'eventhubs' = {
    name: eventHubName
    properties: {
      partitionCount: partitionCount
      retentionDescription: {
        cleanupPolicy: 'Delete'
        retentionTimeInHours: retentionHours
      }
    }
  }
}

// assumption: bicep-health-events
resource topic 'Microsoft.EventGrid/systemTopics@2025-02-15' = {
  name: name
  location: 'global'
  tags: tags
  identity: {
    type: 'SystemAssigned'
  }
  properties: {
    source: subscription().id
    topicType: 'microsoft.resourcenotifications.healthresources'
  }
}

resource eventHubsDataSender 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: subscription()
  name: '2b629674-e913-4c01-ae53-ef4638d8f975'
}

resource sendToHub 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(namespace::hub.id, topic.id, eventHubsDataSender.id)
  scope: namespace::hub
  properties: {
    principalId: topic.identity.principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: eventHubsDataSender.id
    description: 'Event Grid writes health events.'
  }
}

resource toHub 'Microsoft.EventGrid/systemTopics/eventSubscriptions@2025-02-15' = {
  parent: topic
  name: 'vm-health'
  properties: {
    eventDeliverySchema: 'CloudEventSchemaV1_0'
    filter: {
      includedEventTypes: [
        'Microsoft.ResourceNotifications.HealthResources.AvailabilityStatusChanged'
        'Microsoft.ResourceNotifications.HealthResources.ResourceAnnotated'
      ]
    }
    deliveryWithResourceIdentity: {
      identity: {
        type: 'SystemAssigned'
      }
      destination: {
        endpointType: 'EventHub'
        properties: {
          resourceId: namespace::hub.id
        }
      }
    }
  }
  dependsOn: [sendToHub]
}

@description('Name of the topic.')
output name string = topic.name

@description('Name of the hub.')
output eventHubName string = namespace::hub.name
