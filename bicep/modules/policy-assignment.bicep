targetScope = 'managementGroup'

metadata name = 'Policy assignment'
metadata description = 'The initiative of one platform and its assignment: for each ring, identity, injection and update of VMs and scale sets, and the lists of what stays without a bridge. Free of charge. The names of rings are part of what remediableReferences() of fleet-types.bicep refers to.'

import { bridgeVersionType, deployedDefinitionType, identityPolicyOf, osTypeOf, osTypesOf, packagedTargets, publishedApplicationType, ringType, shortNameOf } from '../fleet-types.bicep'

@description('Required. Name of the platform. With its prefix it has to fit the 24 characters that an assignment of a management group may have.')
@minLength(1)
@maxLength(20)
param platformName string

@description('Optional. Region of the identity of the assignment.')
param location string = deployment().location

@description('Required. The definitions, by name.')
param definitions deployedDefinitionType[]

@description('Required. Rings of the platform.')
@minLength(1)
param rings ringType[]

@description('Required. Applications of the platform, one for each target.')
@minLength(1)
param applications publishedApplicationType[]

@description('Required. Versions of the platform, with their packages.')
@minLength(1)
param versions bridgeVersionType[]

@description('Required. Resource id of the identity with which the bridges write.')
param identityResourceId string

@description('Required. Regions of the platform.')
@minLength(1)
param regions string[]

@description('Required. Text in the name of a VM size that only Arm sizes have.')
param armSizeMarks string[]

@description('Required. Images on which the bridge does not run, as publisher:offer:sku.')
param unsupportedImages string[]

@description('Required. Tag whose value is the name of a ring.')
param ringTag string

@description('Required. Tag that excludes a VM.')
param optOutTag string

@description('Required. Whether the initiative includes the lists of VMs on which user-initiated restarts wait.')
param auditUserInitiatedEvents bool

@description('Required. DoNotEnforce only reports; Default changes new and updated VMs.')
param enforcementMode 'Default' | 'DoNotEnforce'

@description('Optional. Resource ids of subscriptions, resource groups or management groups that are excluded.')
param notScopes string[] = []

var definitionIds = toObject(definitions, definition => definition.name, definition => definition.resourceId)
var kinds = ['virtual-machine', 'scale-set']
var targets = map(applications, application => application.target)

var shared = {
  regions: { value: regions }
  armSizeMarks: { value: armSizeMarks }
  unsupportedImages: { value: unsupportedImages }
  optOutTag: { value: optOutTag }
}

var identityReferences = flatten(map(
  rings,
  ring =>
    flatten(map(
      osTypesOf(packagedTargets(targets, versions, ring.version)),
      system =>
        map(kinds, kind => {
          policyDefinitionReferenceId: '${ring.name}-${identityPolicyOf(kind, system)}'
          policyDefinitionId: definitionIds['scheduled-events-bridge-identity-${kind}']
          parameters: union(shared, {
            osType: { value: system }
            architectures: { value: map(filter(packagedTargets(targets, versions, ring.version), target => osTypeOf(target) == system), target => last(split(target, '-'))) }
            ringTag: { value: ringTag }
            rings: { value: [ring.name] }
            untagged: { value: ring.untagged }
            identityResourceId: { value: identityResourceId }
          })
        })
    ))
))

var injectReferences = flatten(map(
  rings,
  ring =>
    flatten(map(
      filter(applications, application => contains(packagedTargets(targets, versions, ring.version), application.target)),
      application =>
        map(kinds, kind => {
          policyDefinitionReferenceId: '${ring.name}-inject-${kind}-${shortNameOf(application.target)}'
          policyDefinitionId: definitionIds['scheduled-events-bridge-inject-${kind}']
          parameters: union(shared, {
            osType: { value: osTypeOf(application.target) }
            architectures: { value: [last(split(application.target, '-'))] }
            ringTag: { value: ringTag }
            rings: { value: [ring.name] }
            untagged: { value: ring.untagged }
            applicationId: { value: application.resourceId }
            version: { value: ring.version }
            identityResourceId: { value: identityResourceId }
          })
        })
    ))
))

var updateReferences = flatten(map(
  rings,
  ring =>
    flatten(map(
      filter(applications, application => contains(packagedTargets(targets, versions, ring.version), application.target)),
      application =>
        map(kinds, kind => {
          policyDefinitionReferenceId: '${ring.name}-update-${kind}-${shortNameOf(application.target)}'
          policyDefinitionId: definitionIds['scheduled-events-bridge-update-${kind}']
          parameters: union(shared, {
            osType: { value: osTypeOf(application.target) }
            architectures: { value: [last(split(application.target, '-'))] }
            ringTag: { value: ringTag }
            rings: { value: [ring.name] }
            untagged: { value: ring.untagged }
            applicationId: { value: application.resourceId }
            version: { value: ring.version }
          })
        })
    ))
))

// The rings whose version has a package for a target: VMs in the others are listed.
var ringsWith = toObject(
  targets,
  target => target,
  target => filter(rings, ring => contains(packagedTargets(targets, versions, ring.version), target))
)

var uncoveredReferences = flatten(map(
  applications,
  application =>
    map(kinds, kind => {
      policyDefinitionReferenceId: 'uncovered-${kind}-${shortNameOf(application.target)}'
      policyDefinitionId: definitionIds['scheduled-events-bridge-uncovered-${kind}']
      parameters: union(shared, {
        osType: { value: osTypeOf(application.target) }
        architectures: { value: [last(split(application.target, '-'))] }
        ringTag: { value: ringTag }
        rings: { value: map(ringsWith[application.target], ring => ring.name) }
        untagged: { value: !empty(filter(ringsWith[application.target], ring => ring.untagged)) }
        applicationId: { value: application.resourceId }
        identityResourceId: { value: identityResourceId }
      })
    })
))

var userEventsReferences = flatten(map(
  auditUserInitiatedEvents ? applications : [],
  application =>
    map(kinds, kind => {
      policyDefinitionReferenceId: 'user-events-${kind}-${shortNameOf(application.target)}'
      policyDefinitionId: definitionIds['scheduled-events-bridge-user-events-${kind}']
      parameters: union(shared, {
        osType: { value: osTypeOf(application.target) }
        architectures: { value: [last(split(application.target, '-'))] }
        applicationId: { value: application.resourceId }
      })
    })
))

resource initiative 'Microsoft.Authorization/policySetDefinitions@2025-03-01' = {
  name: 'scheduled-events-bridge-${platformName}'
  properties: {
    policyType: 'Custom'
    displayName: 'Scheduled Events bridge: ${platformName}'
    description: 'Gives the VMs and scale sets in the regions of the platform ${platformName} the bridge, ring by ring, and lists those that stay without it.'
    metadata: {
      category: 'Compute'
      version: '1.1.0'
    }
    policyDefinitions: concat(
      identityReferences,
      injectReferences,
      updateReferences,
      uncoveredReferences,
      userEventsReferences
    )
  }
}

resource assignment 'Microsoft.Authorization/policyAssignments@2025-03-01' = {
  name: 'seb-${platformName}'
  location: location
  identity: {
    type: 'SystemAssigned'
  }
  properties: {
    displayName: 'Scheduled Events bridge: ${platformName}'
    description: 'Deployed from infra/fleet.bicep. Change it there.'
    metadata: {
      assignedBy: 'Scheduled Events bridge'
    }
    policyDefinitionId: initiative.id
    enforcementMode: enforcementMode
    notScopes: notScopes
    nonComplianceMessages: [
      {
        message: 'No Scheduled Events bridge, or another version than the pinned one. Tag ${optOutTag} leaves a VM alone.'
      }
    ]
  }
}

@description('Name of the assignment.')
output name string = assignment.name

@description('Resource id of the assignment.')
output resourceId string = assignment.id

@description('Object id of the identity of the assignment.')
output principalId string = assignment.identity.principalId
