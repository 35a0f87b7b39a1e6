metadata name = 'Private link scope'
metadata description = 'A new Azure Monitor private link scope, which is open.'

// Free of charge; its private endpoint is not.
// Create one with care: a network sees one such scope only, because all of Azure Monitor shares its names in DNS, so a
// second one replaces the first. An open scope changes nothing for other resources; PrivateOnly cuts every
// other workspace off.

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
