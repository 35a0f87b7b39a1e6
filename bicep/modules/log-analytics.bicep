metadata name = 'Log Analytics'
metadata description = 'The workspace of the tables: a new one, or an existing one that is not changed.'

// Costs: each GB ingested, and each GB kept longer than the included retention.
// Cannot be changed later: the region, which is also the region of the data collection rules.
// A deleted workspace keeps its name for 14 days.

import { tagsType } from '../types.bicep'

@description('Required. Name of the workspace, in this resource group.')
@minLength(4)
@maxLength(63)
param name string

@description('Required. Whether the workspace exists. An existing workspace is not changed.')
param exists bool

@description('Optional. Region of a new workspace.')
param location string = resourceGroup().location

@description('Optional. Tags of a new workspace.')
param tags tagsType = {}

@description('Optional. Retention of a new workspace in days, for tables without their own.')
@minValue(30)
@maxValue(730)
param retentionDays int = 90

@description('Optional. GB a day after which a new workspace stops ingestion until the next day; -1 = no limit. Azure drops rows above the limit, and the bridges do not notice.')
@minValue(-1)
param dailyQuotaGb int = -1

@description('Optional. Whether a new workspace accepts records from public networks. Disabled is for private link only.')
param publicNetworkAccessForIngestion 'Enabled' | 'Disabled' = 'Enabled'

@description('Optional. Whether a new workspace can be queried from public networks. With Disabled the portal shows nothing outside the private network.')
param publicNetworkAccessForQuery 'Enabled' | 'Disabled' = 'Enabled'

@description('Optional. Whether a new workspace is locked against deletion. Only an owner or user access administrator can set and remove the lock.')
param lockAgainstDeletion bool = false

resource created 'Microsoft.OperationalInsights/workspaces@2025-07-01' = if (!exists) {
  name: name
  location: location
  tags: tags
  properties: {
    sku: {
      name: 'PerGB2018'
    }
    retentionInDays: retentionDays
    workspaceCapping: {
      dailyQuotaGb: dailyQuotaGb
    }
    features: {
      disableLocalAuth: true
      // assumption: logs-no-resource-id
      // Rows have no _ResourceId, so rights on a VM do not grant access to its rows; rights on the workspace or the table do.
      enableLogAccessUsingOnlyResourcePermissions: false
    }
    publicNetworkAccessForIngestion: publicNetworkAccessForIngestion
    publicNetworkAccessForQuery: publicNetworkAccessForQuery
  }
}

resource present 'Microsoft.OperationalInsights/workspaces@2025-07-01' existing = if (exists) {
  name: name
}

resource lock 'Microsoft.Authorization/locks@2020-05-01' = if (!exists && lockAgainstDeletion) {
  name: 'vm-lifecycle'
  scope: created
  properties: {
    level: 'CanNotDelete'
    notes: 'It holds the tables of a fleet.'
  }
}

@description('Name of the workspace.')
output name string = name

@description('Resource id of the workspace.')
output resourceId string = exists ? present.id : created.id

@description('Region of the workspace.')
output location string = exists ? present!.location : created!.location
