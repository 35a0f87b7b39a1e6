metadata name = 'Private link scope'
metadata description = 'A new Azure Monitor private link scope in open mode.'

// Free of charge; its private endpoint is not.
// Create one with care: a network can use one such scope only. All of Azure Monitor shares its DNS names, so a
// second scope replaces the first. An open scope does not affect other resources; PrivateOnly makes every
// other workspace unreachable.

@description('Required. Name of the scope.')
@minLength(1)
@maxLength(255)
param name string

resource scope 'microsoft.insights/privateLinkScopes@2021-07-01-preview' = {
  name: name
  location: 'global'
  properties: {
    accessModeSettings: {
      queryAccessMode: 'Open'
      ingestionAccessMode: 'Open'
    }
  }
}

@description('Name of the scope.')
output name string = scope.name

@description('Resource id of the scope.')
output resourceId string = scope.id
