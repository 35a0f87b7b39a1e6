metadata name = 'Query pack'
metadata description = 'Queries that everyone with rights on the pack can open in the portal, each with the question that it answers.'

// Free of charge, and so are queries of tables on the Analytics plan.
// A query removed from the list stays in the pack until you delete it.

import { savedQueryType, tagsType } from '../types.bicep'

@description('Required. Name of the query pack.')
@minLength(1)
@maxLength(255)
param name string

@description('Optional. Region of the query pack.')
param location string = resourceGroup().location

@description('Optional. Tags of the query pack.')
param tags tagsType = {}

@description('Required. The queries. The first line of each is a comment: the question that it answers.')
param queries savedQueryType[]

resource queryPack 'Microsoft.OperationalInsights/queryPacks@2025-07-01' = {
  name: name
  location: location
  tags: tags
  properties: {}

  resource packed 'queries' = [
    for query in queries: {
      name: guid(queryPack.id, query.name)
      properties: {
        displayName: query.displayName
        description: trim(substring(split(query.body, '\n')[0], 2))
        body: query.body
        related: {
          categories: ['monitor', 'virtualmachines']
          resourceTypes: ['microsoft.operationalinsights/workspaces', 'microsoft.compute/virtualmachines']
        }
        tags: {
          labels: ['VM lifecycle']
        }
      }
    }
  ]
}

@description('Name of the query pack.')
output name string = queryPack.name

@description('Resource id of the query pack.')
output resourceId string = queryPack.id
