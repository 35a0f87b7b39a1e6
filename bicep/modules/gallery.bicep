metadata name = 'Gallery'
metadata description = 'A compute gallery for the VM applications, with the identity with which it reads packages and configurations. Free of charge; its region cannot be changed later.'

import { tagsType } from '../types.bicep'

@description('Required. Name of the gallery.')
@minLength(1)
@maxLength(80)
param name string

@description('Optional. Region of the gallery. Default: that of the resource group.')
param location string = resourceGroup().location

// https://learn.microsoft.com/azure/virtual-machines/vm-applications-publish-with-managed-identity
@description('Required. Resource id of the user-assigned identity with which the gallery reads blobs while it publishes. So addresses need no signature, and the storage account needs neither keys nor anonymous access.')
param publisherIdentityResourceId string

@description('Optional. Tags of the gallery.')
param tags tagsType = {}

// assumption: install-vm-application-config
resource gallery 'Microsoft.Compute/galleries@2024-03-03' = {
  name: name
  location: location
  tags: tags
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${publisherIdentityResourceId}': {}
    }
  }
  properties: {
    description: 'VM applications of the Scheduled Events bridge.'
  }
}

@description('Name of the gallery.')
output name string = gallery.name

@description('Resource id of the gallery.')
output resourceId string = gallery.id
