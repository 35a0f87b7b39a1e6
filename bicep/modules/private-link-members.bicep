metadata name = 'Private link members'
metadata description = 'Joins workspace and data collection endpoints to an Azure Monitor private link scope, which is not changed otherwise.'

// Free of charge.
// Every network that uses the scope can reach its members through the private endpoints of the scope.
// A member removed from the list stays in Azure until you delete it.

@description('Required. Name of the scope, which exists in this resource group.')
@minLength(1)
@maxLength(255)
param scopeName string

@description('Required. Resource id of the workspace.')
param workspaceResourceId string

@description('Required. Resource ids of the data collection endpoints.')
param endpointResourceIds string[]

resource scope 'microsoft.insights/privateLinkScopes@2021-07-01-preview' existing = {
  name: scopeName
}

// Sequentially, because the scope refuses two changes at the same time.
@batchSize(1)
resource members 'Microsoft.Insights/privateLinkScopes/scopedResources@2021-07-01-preview' = [
  for monitorResourceId in concat([workspaceResourceId], endpointResourceIds): {
    parent: scope
    name: 'vm-lifecycle-${uniqueString(monitorResourceId)}'
    properties: {
      linkedResourceId: monitorResourceId
    }
  }
]

@description('Resource id of the scope.')
output scopeResourceId string = scope.id
