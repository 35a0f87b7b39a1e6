metadata name = 'Gallery readers'
metadata description = 'Who may assign the applications of a gallery to VMs. Whoever creates or changes a VM that names an application must be able to read the application, even if a policy added it. Free of charge.'

import { readerType } from '../types.bicep'

@description('Required. Name of the gallery, which exists in this resource group.')
param galleryName string

@description('Required. The readers.')
param readers readerType[]

resource gallery 'Microsoft.Compute/galleries@2024-03-03' existing = {
  name: galleryName
}

resource reader 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: subscription()
  name: 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
}

resource roleAssignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for principal in readers: {
    name: guid(gallery.id, principal.principalId, reader.id)
    scope: gallery
    properties: {
      principalId: principal.principalId
      principalType: principal.principalType
      roleDefinitionId: reader.id
      description: 'Gives VMs the applications of this gallery.'
    }
  }
]
