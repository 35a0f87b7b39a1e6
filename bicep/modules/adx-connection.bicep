metadata name = 'Azure Data Explorer connection'
metadata description = 'Lets an existing database of Azure Data Explorer read the hub, with its own consumer group.'

// Free of charge; the cluster is charged by the hour.
// Cannot be changed later: hub and consumer group of the connection.
// The cluster reads with a managed identity, which must be one of the readers of the hub before this is deployed.
// Rows have the whole record of the hub in one dynamic column, so new fields need no change here.

@description('Required. Name of the cluster, in this resource group.')
param clusterName string

@description('Required. Name of the database.')
param databaseName string

@description('Required. Region of the cluster.')
param location string

@description('Required. Resource ids of the hubs, one for each shard.')
@minLength(1)
param eventHubResourceIds string[]

@description('Required. Resource id of the managed identity with which the cluster reads: a user-assigned identity, or the cluster itself.')
param managedIdentityResourceId string

@description('Optional. Consumer group, used by this connection only.')
param consumerGroup string = 'adx'

var tableName = 'VmLifecycle'
var mappingName = 'VmLifecycleRecord'
var commands = '''
.create-merge table VmLifecycle (Record: dynamic)

.create-or-alter table VmLifecycle ingestion json mapping 'VmLifecycleRecord' '[{"column":"Record","Properties":{"Path":"$"}}]'
'''

resource cluster 'Microsoft.Kusto/clusters@2024-04-13' existing = {
  name: clusterName

  resource database 'databases' existing = {
    name: databaseName

    resource script 'scripts' = {
      name: 'vm-lifecycle'
      properties: {
        scriptContent: commands
        continueOnErrors: false
        scriptLevel: 'Database'
        principalPermissionsAction: 'RemovePermissionOnScriptCompletion'
      }
    }
  }
}

resource connections 'Microsoft.Kusto/clusters/databases/dataConnections@2024-04-13' = [
  for eventHubResourceId in eventHubResourceIds: {
    parent: cluster::database
    name: 'vm-lifecycle-${uniqueString(eventHubResourceId)}'
    location: location
    kind: 'EventHub'
    properties: {
      eventHubResourceId: eventHubResourceId
      consumerGroup: consumerGroup
      tableName: tableName
      mappingRuleName: mappingName
      dataFormat: 'MULTIJSON'
      compression: 'None'
      managedIdentityResourceId: managedIdentityResourceId
    }
    dependsOn: [cluster::database::script]
  }
]

@description('Table that holds the records.')
output tableName string = tableName
