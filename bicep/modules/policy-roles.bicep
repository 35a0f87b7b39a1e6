targetScope = 'managementGroup'

metadata name = 'Policy roles'
metadata description = 'What the identity of a policy assignment may do in the management group. Bicep, unlike the portal, does not grant the roles that a definition names. Free of charge.'

@description('Required. Object id of the identity of the assignment.')
param principalId string

resource virtualMachineContributor 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: tenant()
  name: '9980e02c-c2be-4d73-94e8-173b1dc7cf3c'
}

resource managedIdentityOperator 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: tenant()
  name: 'f1a07417-d97a-45cb-824c-7a7467783830'
}

resource changeVirtualMachines 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(managementGroup().id, principalId, virtualMachineContributor.id)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: virtualMachineContributor.id
    description: 'Policy of the Scheduled Events bridge: applications on VMs. Delete it with the assignment.'
  }
}

// For the whole management group and not only for the identity of the platform: a request that writes the identities of a VM
// names those of others too, and each has to be one that the caller may attach.
resource attachIdentities 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(managementGroup().id, principalId, managedIdentityOperator.id)
  properties: {
    principalId: principalId
    principalType: 'ServicePrincipal'
    roleDefinitionId: managedIdentityOperator.id
    description: 'Policy of the Scheduled Events bridge: its identity on VMs. Delete it with the assignment.'
  }
}
