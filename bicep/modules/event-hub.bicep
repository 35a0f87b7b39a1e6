metadata name = 'Event hub'
metadata description = 'One namespace with one hub for the lifecycle records, without keys: local authentication is off, and only Microsoft Entra ID grants access.'

// Costs: each throughput or processing unit by the hour, used or not, and a small amount for each million records. Capture
// is charged in addition.
// Cannot be changed later: the name, Standard or Premium, the number of partitions (Standard).
// Auto-inflate scales up and never down.

import { captureType, encryptionKeyType, eventHubNetworkType, eventHubSizeType, tagsType } from '../types.bicep'

@description('Required. Name of the namespace, unique in the cloud.')
@minLength(6)
@maxLength(50)
param name string

@description('Optional. Region of the namespace.')
param location string = resourceGroup().location

@description('Optional. Tags of the namespace.')
param tags tagsType = {}

@description('Required. Size of the namespace and of its hub.')
param size eventHubSizeType

@description('Optional. Name of the hub.')
@minLength(1)
@maxLength(256)
param eventHubName string = 'vm-lifecycle'

@description('Optional. Consumer groups, one for each kind of reader: of two programs that share one, each gets only part of the records.')
@maxLength(19)
param consumerGroups string[] = ['tail', 'functions', 'adx', 'siem']

@description('Optional. Whether the namespace is zone-redundant, if the region has zones. Cannot be changed later.')
param zoneRedundant bool = true

@description('Optional. Capture of every record into an existing storage account.')
param capture captureType?

// https://learn.microsoft.com/azure/event-hubs/configure-customer-managed-key
@description('Optional. A customer-managed key: only with Premium, and only for a new namespace or one that already uses it. Default: Microsoft-managed keys.')
param encryptionKey encryptionKeyType?

@description('Optional. Whether namespace and hub are locked against deletion. Only an owner or user access administrator can set and remove the lock.')
param lockAgainstDeletion bool = false

@description('Optional. Resource id of the workspace for the logs of the namespace: operations, scaling, and failures of Capture. Empty: no logs.')
param logsWorkspaceResourceId string = ''

@description('Optional. Networks from which the namespace can be reached. Default: every network, with a token.')
param network eventHubNetworkType = {
  publicNetworkAccess: 'Enabled'
  allowedIpRanges: []
  allowedSubnetResourceIds: []
}

var isPublic = network.publicNetworkAccess == 'Enabled'
var hasRules = !empty(network.allowedIpRanges) || !empty(network.allowedSubnetResourceIds)
var identityResourceIds = union(
  empty(capture) ? [] : [capture!.identityResourceId],
  empty(encryptionKey) ? [] : [encryptionKey!.identityResourceId]
)
// assumption: deploy-capture
var captureDescription = {
  enabled: true
  encoding: 'Avro'
  intervalInSeconds: capture.?intervalSeconds ?? 300
  sizeLimitInBytes: 104857600
  skipEmptyArchives: true
  destination: {
    name: 'EventHubArchive.AzureBlockBlob'
    identity: {
      type: 'UserAssigned'
      userAssignedIdentity: capture.?identityResourceId
    }
    properties: {
      storageAccountResourceId: capture.?storageAccountResourceId
      blobContainer: capture.?containerName
      archiveNameFormat: '{Namespace}/{EventHub}/{Year}/{Month}/{Day}/{Hour}/{Minute}/{Second}/{PartitionId}'
    }
  }
}

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' = {
  name: name
  location: location
  tags: tags
  sku: {
    name: size.skuName
    tier: size.skuName
    capacity: size.capacity
  }
  identity: empty(identityResourceIds)
    ? {
        type: 'None'
      }
    : {
        type: 'UserAssigned'
        userAssignedIdentities: toObject(identityResourceIds, id => id, id => {})
      }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
    publicNetworkAccess: network.publicNetworkAccess
    zoneRedundant: zoneRedundant
    isAutoInflateEnabled: size.maximumThroughputUnits > 0
    maximumThroughputUnits: size.maximumThroughputUnits
    // assumption: bicep-customer-key
    encryption: empty(encryptionKey)
      ? null
      : {
          keySource: 'Microsoft.KeyVault'
          keyVaultProperties: [
            {
              keyVaultUri: encryptionKey.?keyVaultUri
              keyName: encryptionKey.?keyName
              identity: {
                userAssignedIdentity: encryptionKey.?identityResourceId
              }
            }
          ]
        }
  }

  resource networkRules 'networkRuleSets' = {
    name: 'default'
    properties: {
      publicNetworkAccess: network.publicNetworkAccess
      defaultAction: isPublic && !hasRules ? 'Allow' : 'Deny'
      // Event Grid, Capture and Data Explorer connect from Azure's own networks.
      trustedServiceAccessEnabled: true
      ipRules: [
        for allowedIpRange in network.allowedIpRanges: {
          ipMask: allowedIpRange
          action: 'Allow'
        }
      ]
      virtualNetworkRules: [
        for subnetResourceId in network.allowedSubnetResourceIds: {
          subnet: {
            id: subnetResourceId
          }
          ignoreMissingVnetServiceEndpoint: false
        }
      ]
    }
  }

  resource hub 'eventhubs' = {
    name: eventHubName
    properties: {
      partitionCount: size.partitionCount
      retentionDescription: {
        cleanupPolicy: 'Delete'
        retentionTimeInHours: size.retentionHours
      }
      captureDescription: empty(capture) ? null : captureDescription
    }

    @batchSize(1)
    resource groups 'consumergroups' = [
      for group in consumerGroups: {
        name: group
      }
    ]
  }
}

resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (lockAgainstDeletion) {
  name: 'vm-lifecycle'
  scope: namespace
  properties: {
    level: 'CanNotDelete'
    notes: 'Bridges of a fleet write to it.'
  }
}

resource logs 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!empty(logsWorkspaceResourceId)) {
  name: 'vm-lifecycle'
  scope: namespace
  properties: {
    workspaceId: logsWorkspaceResourceId
    logs: map(['OperationalLogs', 'AutoScaleLogs', 'ArchiveLogs'], category => {
      category: category
      enabled: true
    })
  }
}

@description('Name of the namespace.')
output name string = namespace.name

@description('Resource id of the namespace.')
output resourceId string = namespace.id

@description('Region of the namespace.')
output location string = namespace.location

@description('Name of the hub.')
output eventHubName string = namespace::hub.name

@description('Resource id of the hub.')
output eventHubResourceId string = namespace::hub.id

// Taken from the value that Azure returns, so that it is right in every cloud: https://x.servicebus.windows.net:443/
@description('Host of the namespace, without scheme and port.')
output fullyQualifiedNamespace string = split(split(namespace.properties.serviceBusEndpoint, '/')[2], ':')[0]
