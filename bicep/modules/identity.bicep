metadata name = 'Identity'
metadata description = 'The user-assigned identity with which every bridge of the platform writes.'

// Free of charge.
// Cannot be changed later: a new identity has a new client id, which every bridge needs, so delete it last,
// after the fleet (see the order of removal in infra/deploy.md).
// Every VM with it can write records in the name of any other VM, so a record does not prove its author.

import { tagsType } from '../types.bicep'

@description('Required. Name of the identity.')
@minLength(3)
@maxLength(128)
param name string

@description('Optional. Region of the identity. It can be attached to VMs in every region.')
param location string = resourceGroup().location

@description('Optional. Tags of the identity.')
param tags tagsType = {}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: name
  location: location
  tags: tags
}

@description('Name of the identity.')
output name string = identity.name

@description('Resource id, which is attached to the VMs.')
output resourceId string = identity.id

@description('Client id, which the bridge names when it requests a token.')
output clientId string = identity.properties.clientId

@description('Principal id, to which roles are assigned.')
output principalId string = identity.properties.principalId
