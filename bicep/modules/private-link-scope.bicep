metadata name = 'Private link scope'
metadata description = 'Joins workspace and data collection endpoints to an Azure Monitor private link scope that exists, or makes one that is open.'

// Free of charge; its private endpoint is not.
// Not to be made lightly: a network sees one such scope only, as all of Azure Monitor shares its names in DNS, so a
// second one takes the place of the first. An open scope lets everything else go on as before; PrivateOnly cuts every
// other workspace off.

@description('Required. Name of the scope, in this resource group.')
@minLength(1)
@maxLength(255)
param name string

@description('Required. Whether the scope exists. Then its access modes are left as they are.')
param exists bool

@description('Required. Resource id of the workspace.')
param workspaceResourceId string

@description('Required. Resource ids of the data collection endpoints.')
param endpointResourceIds string[]

resource created 'microsoft.insights/privateLinkScopes@2021-07-01-preview' = if (!exists) {
  name: name
  location: 'global'
  properties: {
    accessModeSettings: {
      queryAccessMode: 'Open'
      ingestionAccessMode: 'Open'
    }
  }
}

resource scope 'microsoft.insights/privateLinkScopes@2021-07-01-preview' existing = {
  name: name
}

// One after the other: the scope refuses two changes at a time.
@batchSize(1)
resource joined 'Microsoft.Insights/privateLinkScopes/scopedResources@2021-07-01-preview' = [
  for monitorResourceId in concat([workspaceResourceId], endpointResourceIds): {
    parent: scope
    name: 'vm-lifecycle-${uniqueString(monitorResourceId)}'
    properties: {
      linkedResourceId: monitorResourceId
    }
    dependsOn: [created]
  }
]

@description('Resource id of the scope.')
output resourceId string = exists ? scope.id : created.id
