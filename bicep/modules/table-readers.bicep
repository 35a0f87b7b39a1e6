metadata name = 'Table readers'
metadata description = 'Lets people and programs query the tables of bicep/schema/columns.json and no other table of the workspace, which may contain other data.'

// Free of charge.
// Conditions on tables are a preview of Azure, and not in every cloud: without readers nothing of it is deployed.
// Takes up to 15 minutes to be known everywhere.
// Rights add up: a person who also has a wider role on the workspace, such as Reader, still sees every table.
// The names are made of scope, principal and role, so a second deployment changes nothing.

import { readerType } from '../types.bicep'

@description('Required. Name of the workspace, in this resource group.')
@minLength(4)
@maxLength(63)
param workspaceName string

@description('Required. Who reads.')
param readers readerType[]

// https://learn.microsoft.com/azure/azure-monitor/logs/granular-rbac-log-analytics
var action = 'Microsoft.OperationalInsights/workspaces/tables/data/read'
var attribute = 'Microsoft.OperationalInsights/workspaces/tables:name'
// assumption: role-condition-underscore
var oneOfTheTables = join(
  map(
    items(loadJsonContent('../schema/columns.json').tables),
    table => '@Resource[${attribute}] StringEquals \'${table.key}\''
  ),
  ' OR '
)

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' existing = {
  name: workspaceName
}

resource logAnalyticsDataReader 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: subscription()
  name: '3b03c2da-16b3-4a49-8834-0f8130efdd3b'
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for reader in readers: {
    name: guid(workspace.id, reader.principalId, logAnalyticsDataReader.id)
    scope: workspace
    properties: {
      principalId: reader.principalId
      principalType: reader.principalType
      roleDefinitionId: logAnalyticsDataReader.id
      description: 'Queries lifecycle records and heartbeats.'
      condition: '((!(ActionMatches{\'${action}\'})) OR (${oneOfTheTables}))'
      conditionVersion: '2.0'
    }
  }
]
