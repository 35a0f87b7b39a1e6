metadata name = 'Private link'
metadata description = 'Private endpoints in an existing subnet, for the Event Hubs namespaces and, if requested, for an Azure Monitor private link scope.'

// Costs: each endpoint by the hour and by GB.
// Private DNS zones have their own switch: if a zone of the same name is already linked to the network, a second one
// hides its records.
// Needs Standard or Premium.

import { tagsType } from '../types.bicep'

@description('Optional. Region of the network.')
param location string = resourceGroup().location

@description('Optional. Tags of the endpoints and zones.')
param tags tagsType = {}

@description('Required. Resource id of the subnet in which the endpoints get their addresses.')
param subnetResourceId string

@description('Required. Resource ids of the Event Hubs namespaces.')
@minLength(1)
param eventHubNamespaceResourceIds string[]

@description('Required. Host of one of the namespaces, from which the name of their DNS zone is derived.')
param fullyQualifiedNamespace string

@description('Required. Endpoint of one of the data collection endpoints, from which the name of the DNS zone of Azure Monitor is derived.')
param logsIngestionEndpoint string

@description('Required. Resource id of the private link scope that gets an endpoint; empty if it already has one.')
param privateLinkScopeResourceId string

@description('Optional. Whether to create private DNS zones and link them to the network. If the organization has such zones, leave this off and pass their ids.')
param createPrivateDnsZones bool = false

@description('Conditional. Resource id of the network to which new zones are linked. Required with createPrivateDnsZones.')
param virtualNetworkResourceId string = ''

@description('Optional. Resource id of the existing private DNS zone for Event Hubs. Empty: a zone is created, or the organization enters the addresses itself.')
param eventHubsZoneResourceId string = ''

@description('Optional. Resource id of the existing private DNS zone for Azure Monitor. Empty: a zone is created, or the organization enters the addresses itself.')
param monitorZoneResourceId string = ''

// assumption: bicep-private-link
// x.servicebus.… is reached as x.privatelink.servicebus.…; x.region.ingest.monitor.azure.… in the zone privatelink.monitor.azure.…
var monitorHost = split(logsIngestionEndpoint, '/')[2]
var eventHubsZoneName = 'privatelink.${join(skip(split(fullyQualifiedNamespace, '.'), 1), '.')}'
var monitorZoneName = 'privatelink.monitor.${split(monitorHost, '.monitor.')[1]}'
var hasScopeEndpoint = !empty(privateLinkScopeResourceId)
var hasEventHubsZone = createPrivateDnsZones || !empty(eventHubsZoneResourceId)
var hasMonitorZone = hasScopeEndpoint && (createPrivateDnsZones || !empty(monitorZoneResourceId))

resource eventHubsZone 'Microsoft.Network/privateDnsZones@2024-06-01' = if (createPrivateDnsZones) {
  name: eventHubsZoneName
  location: 'global'
  tags: tags

  resource link 'virtualNetworkLinks' = {
    name: 'vm-lifecycle'
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      virtualNetwork: {
        id: virtualNetworkResourceId
      }
    }
  }
}

resource monitorZone 'Microsoft.Network/privateDnsZones@2024-06-01' = if (createPrivateDnsZones && hasScopeEndpoint) {
  name: monitorZoneName
  location: 'global'
  tags: tags

  resource link 'virtualNetworkLinks' = {
    name: 'vm-lifecycle'
    location: 'global'
    tags: tags
    properties: {
      registrationEnabled: false
      // The zone contains few of Azure Monitor's many names; names that it lacks are resolved publicly instead of failing.
      resolutionPolicy: 'NxDomainRedirect'
      virtualNetwork: {
        id: virtualNetworkResourceId
      }
    }
  }
}

resource eventHubsEndpoints 'Microsoft.Network/privateEndpoints@2024-05-01' = [
  for namespaceResourceId in eventHubNamespaceResourceIds: {
    name: 'pe-${last(split(namespaceResourceId, '/'))}'
    location: location
    tags: tags
    properties: {
      subnet: {
        id: subnetResourceId
      }
      privateLinkServiceConnections: [
        {
          name: 'namespace'
          properties: {
            privateLinkServiceId: namespaceResourceId
            groupIds: ['namespace']
          }
        }
      ]
    }
  }
]

resource eventHubsZoneGroups 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-05-01' = [
  for (namespaceResourceId, index) in eventHubNamespaceResourceIds: if (hasEventHubsZone) {
    parent: eventHubsEndpoints[index]
    name: 'default'
    properties: {
      privateDnsZoneConfigs: [
        {
          name: 'event-hubs'
          properties: {
            privateDnsZoneId: createPrivateDnsZones ? eventHubsZone.id : eventHubsZoneResourceId
          }
        }
      ]
    }
  }
]

resource monitorEndpoint 'Microsoft.Network/privateEndpoints@2024-05-01' = if (hasScopeEndpoint) {
  name: 'pe-${last(split(privateLinkScopeResourceId, '/'))}'
  location: location
  tags: tags
  properties: {
    subnet: {
      id: subnetResourceId
    }
    privateLinkServiceConnections: [
      {
        name: 'azure-monitor'
        properties: {
          privateLinkServiceId: privateLinkScopeResourceId
          groupIds: ['azuremonitor']
        }
      }
    ]
  }
}

resource monitorZoneGroup 'Microsoft.Network/privateEndpoints/privateDnsZoneGroups@2024-05-01' = if (hasMonitorZone) {
  parent: monitorEndpoint
  name: 'default'
  properties: {
    privateDnsZoneConfigs: [
      {
        name: 'azure-monitor'
        properties: {
          privateDnsZoneId: createPrivateDnsZones ? monitorZone.id : monitorZoneResourceId
        }
      }
    ]
  }
}

@description('Resource ids of the private endpoints of the namespaces.')
output eventHubsEndpointResourceIds string[] = [
  for (namespaceResourceId, index) in eventHubNamespaceResourceIds: eventHubsEndpoints[index].id
]
