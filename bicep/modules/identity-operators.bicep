metadata name = 'Identity operators'
metadata description = 'Who may attach an identity to VMs. The identity of the bridges is often in another management group than the VMs, so a role on the management group of the VMs does not include it. Free of charge.'

@description('Required. Name of the identity, which exists in this resource group.')
@minLength(3)
@maxLength(128)
param identityName string

@description('Required. Object ids of the managed identities of the policy assignments, which attach it.')
param principalIds string[]

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource managedIdentityOperator 'Microsoft.Authorization/roleDefinitions@2022-04-01' existing = {
  scope: subscription()
  name: 'f1a07417-d97a-45cb-824c-7a7467783830'
}

resource roleAssignment 'Microsoft.Authorization/roleAssignments@2022-04-01' = [
  for principalId in principalIds: {
    name: guid(identity.id, principalId, managedIdentityOperator.id)
    scope: identity
    properties: {
      principalId: principalId
      principalType: 'ServicePrincipal'
      roleDefinitionId: managedIdentityOperator.id
      description: 'Attaches the identity of the bridges to VMs. Delete it with the policy assignment.'
    }
  }
]
