metadata name = 'Private link scope'
metadata description = 'A new Azure Monitor private link scope, which is open.'

// Free of charge; its private endpoint is not.
// Not to be made lightly: a network sees one such scope only, as all of Azure Monitor shares its names in DNS, so a
// second one takes the place of the first. An open scope lets everything else go on as before; PrivateOnly cuts every
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
