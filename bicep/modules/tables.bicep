metadata name = 'Tables'
metadata description = 'The tables of bicep/schema/columns.json: one for the lifecycle records, one for the heartbeats.'

// Costs: by GB taken in (plan Analytics), and by GB and month beyond the retention included.
// Cannot be changed later: the name and type of a column, ever; a column can only be added.
// Deleting a table deletes its rows.

@description('Required. Name of the workspace, in this resource group.')
@minLength(4)
@maxLength(63)
param workspaceName string

@description('Optional. Days for which rows can be queried at no extra price but that of retention.')
@minValue(4)
@maxValue(730)
param retentionDays int = 90

@description('Optional. Days for which rows are kept in total. Between retentionDays and this they are found by a search job.')
@minValue(4)
@maxValue(4383)
param totalRetentionDays int = 365

var schema = loadJsonContent('../schema/columns.json')

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' existing = {
  name: workspaceName
}

// One after the other: the workspace refuses two changes of its schema at a time.
@batchSize(1)
resource tables 'Microsoft.OperationalInsights/workspaces/tables@2025-07-01' = [
  for table in items(schema.tables): {
    parent: workspace
    name: table.key
    properties: {
      plan: 'Analytics'
      retentionInDays: retentionDays
      totalRetentionInDays: totalRetentionDays
      schema: {
        name: table.key
        columns: map(table.value, column => {
          name: column.name
          type: column.type
          description: column.description
        })
      }
    }
  }
]

@description('Names of the tables.')
output names string[] = map(items(schema.tables), table => table.key)
