metadata name = 'Identity'
metadata description = 'The user-assigned identity by which every bridge of the platform writes.'

// Free of charge.
// Cannot be changed later: a new identity has a new client id, which every bridge needs, so delete it last,
// after the fleet (see the order of removal in infra/deploy.md).
// Every VM with it can write in the name of any other: a record names its author and does not prove it.

import { tagsType } from '../types.bicep'

@description('Required. Name of the identity.')
@minLength(3)
@maxLength(128)
param name string

@description('Optional. Region of the identity. VMs of every region can carry it.')
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

@description('Resource id: what is attached to the VMs.')
output resourceId string = identity.id

@description('Client id, which the bridge names when it requests a token.')
output clientId string = identity.properties.clientId

@description('Principal id: what roles are assigned to.')
output principalId string = identity.properties.principalId
