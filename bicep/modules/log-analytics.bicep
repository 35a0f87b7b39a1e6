metadata name = 'Log Analytics'
metadata description = 'The workspace that holds the tables: a new one, or one that exists and is left as it is.'

// Costs: each GB taken in, and each GB kept longer than the retention included.
// Cannot be changed later: the region, which is also the region of the data collection rules.
// A deleted workspace keeps its name for 14 days.

import { tagsType } from '../types.bicep'

@description('Required. Name of the workspace, in this resource group.')
@minLength(4)
@maxLength(63)
param name string

@description('Required. Whether the workspace exists. Then nothing of it is changed.')
param exists bool

@description('Optional. Region of a new workspace.')
param location string = resourceGroup().location

@description('Optional. Tags of a new workspace.')
param tags tagsType = {}

@description('Optional. Retention of a new workspace in days, for tables that name none.')
@minValue(30)
@maxValue(730)
param retentionDays int = 90

@description('Optional. GB a day after which a new workspace accepts nothing more until the next day; -1 = no limit. A limit can cost records: the bridges keep what is refused, within the limits of their outbox.')
@minValue(-1)
param dailyQuotaGb int = -1

@description('Optional. Whether a new workspace takes records in from public networks. Disabled is for private link only.')
param publicNetworkAccessForIngestion 'Enabled' | 'Disabled' = 'Enabled'

@description('Optional. Whether a new workspace can be queried from public networks. With Disabled the portal shows nothing outside the private network.')
param publicNetworkAccessForQuery 'Enabled' | 'Disabled' = 'Enabled'

@description('Optional. Whether a new workspace is locked against deletion. Only an owner or user access administrator can set and lift it.')
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
      // Rows have no _ResourceId of their VM, so rights on a VM must not open the table: rights on workspace or table do.
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
