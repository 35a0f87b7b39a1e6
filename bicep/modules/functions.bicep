metadata name = 'Functions'
metadata description = 'Functions saved in the workspace, called by name in any query, alert and workbook.'

// Free of charge, and so are queries of tables on the Analytics plan.
// A function can be changed at any time; after a rename, delete the old one yourself.

import { savedFunctionType } from '../types.bicep'

@description('Required. Name of the workspace, in this resource group.')
@minLength(4)
@maxLength(63)
param workspaceName string

@description('Required. The functions. List a function after those that it calls.')
param functions savedFunctionType[]

@description('Optional. Group of the functions in the portal.')
param category string = 'VM lifecycle'

// The first line has the parameters after the word params, such as (Lookback:timespan=14d); the service expects the part in the parentheses.
var opening = 'params: ('
var firstLines = map(functions, saved => trim(split(saved.body, '\n')[0]))
var parameters = map(
  firstLines,
  line =>
    contains(line, opening)
      ? substring(
          line,
          indexOf(line, opening) + length(opening),
          lastIndexOf(line, ')') - indexOf(line, opening) - length(opening)
        )
      : ''
)

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' existing = {
  name: workspaceName
}

// Sequentially, in their order: Azure refuses a function while a function that it calls is missing.
@batchSize(1)
resource savedSearches 'Microsoft.OperationalInsights/workspaces/savedSearches@2025-07-01' = [
  for (saved, index) in functions: {
    parent: workspace
    name: saved.name
    properties: {
      category: category
      displayName: saved.displayName
      query: saved.body
      functionAlias: saved.name
      functionParameters: parameters[index]
      version: 2
      // assumption: bicep-functions-again
      // Without it, Azure refuses a second deployment as a conflict. The resource type has this property elsewhere, where it has no effect.
      #disable-next-line BCP037
      etag: '*'
    }
  }
]

@description('Names of the functions.')
output names string[] = map(functions, saved => saved.name)
