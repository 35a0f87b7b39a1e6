targetScope = 'managementGroup'

metadata name = 'Fleet'
metadata description = 'Rolls the bridge out to the VMs and scale sets of a management group: publishes it as a VM application, attaches the identity and injects the application by policy, ring by ring. The first deployment only reports.'

import { galleryType, platformType, remediableReferences, remediationStepType, shortNameOf } from '../bicep/fleet-types.bicep'
import { bridgeConfiguration, readerType, tagsType, userInitiatedEventsType } from '../bicep/types.bicep'

@description('Optional. Region of the identities of the policy assignments.')
param location string = deployment().location

@description('Required. The platforms, or the shards of one, each for the VMs of its regions. Each gets one policy assignment.')
@minLength(1)
param platforms platformType[]

@description('Required. Gallery of the VM applications.')
param gallery galleryType

@description('Required. Polling makes user-initiated restarts and redeploys wait for their notice, for a whole scale set. acceptDelay: they wait. bridgeApproves: the bridge approves them as soon as it has recorded them, set in the configuration that each version is published with (output configurations). platformApproves: the scheduledEventsPolicy of each VM and scale set approves them. Policy does not set it, it only lists where it is missing; the output setUserInitiatedEvents sets it.')
param userInitiatedEvents userInitiatedEventsType

@description('Optional. DoNotEnforce only reports what policy would change; start with it. Default changes every VM that is created or updated from then on.')
param enforcementMode 'Default' | 'DoNotEnforce' = 'DoNotEnforce'

@description('Optional. Names of the rings whose existing VMs and scale sets are changed now: the next ring only. You can name a ring again when its tasks have ended; while one runs, Azure refuses to replace it and the deployment fails. Works with either enforcementMode.')
param remediate string[] = []

@description('Optional. What is changed on them: first the identities and, when those tasks have ended, the applications. Tasks run in parallel, and if two change one VM at the same time, one of the changes fails.')
param remediationStep remediationStepType = 'identities'

@description('Optional. Increase it to remediate the same rings at the same version again.')
@minValue(1)
param remediationRound int = 1

@description('Optional. Principals that create or change VMs in the management group and cannot read the gallery yet. Without the role, their requests fail once policy adds an application to them.')
param galleryReaders readerType[] = []

@description('Optional. Tag whose value is the name of a ring.')
param ringTag string = 'scheduled-events-bridge-ring'

@description('Optional. Tag that excludes a VM or scale set, with any value but false.')
param optOutTag string = 'scheduled-events-bridge-opt-out'

@description('Optional. Resource ids of subscriptions, resource groups or management groups that are excluded.')
param notScopes string[] = []

// https://learn.microsoft.com/azure/virtual-machines/vm-naming-conventions: a p after the number of cores is an Arm processor.
@description('Optional. Text in the name of a VM size that only Arm sizes have.')
param armSizeMarks string[] = ['0p', '1p', '2p', '3p', '4p', '5p', '6p', '7p', '8p', '9p', '_GB200', '_GB300']

// Node.js needs glibc 2.28, or Windows 10 or Windows Server 2016: https://github.com/nodejs/node/blob/v24.x/BUILDING.md#platform-list
@description('Optional. Images on which the bridge does not run, as publisher:offer:sku, each part with one * at most. Your own images are not recognized: tag their VMs, or let the installer refuse them.')
@maxLength(100)
param unsupportedImages string[] = [
  'Canonical:UbuntuServer:*'
  'RedHat:RHEL*:7*'
  'RedHat:RHEL*:6*'
  'RedHat:rhel-byos:rhel-lvm7*'
  'RedHat:rhel-byos:rhel-raw7*'
  'OpenLogic:CentOS*:7*'
  'OpenLogic:CentOS*:6*'
  'Oracle:Oracle-Linux:7*'
  'Oracle:Oracle-Linux:ol7*'
  'SUSE:SLES*:12*'
  'SUSE:sles-12*:*'
  'SUSE:sles-sap-12*:*'
  'credativ:Debian:*'
  'MicrosoftWindowsServer:WindowsServer:2008*'
  'MicrosoftWindowsServer:WindowsServer:2012*'
  'MicrosoftSQLServer:*-WS2008R2SP1:*'
  'MicrosoftSQLServer:*-WS2012R2:*'
  'MicrosoftSQLServer:*-WS2012R2-BYOL:*'
  'MicrosoftVisualStudio:Windows:Win7*'
  'MicrosoftVisualStudio:Windows:Win8*'
  'MicrosoftWindowsDesktop:Windows-7:*'
  'MicrosoftWindowsDesktop:Windows-8:*'
]

@description('Optional. Tags of the resources in the resource group of the gallery.')
param tags tagsType = {}

// assumption: policy-states-ids
// Policy states from Resource Graph, which returns 1,000 rows a page and supports paging only for rows with an id:
// https://learn.microsoft.com/azure/governance/resource-graph/concepts/work-with-data#paging-results
// Without its extension, `az graph` prompts to install it, and its output would be read as the first row.
@description('Command that lists the resources that do not comply with the given policies of the initiatives.')
func nonCompliant(managementGroupName string, references string[]) string =>
  'az extension add --name resource-graph --upgrade --only-show-errors && token= && while :; do page=$(az graph query --management-groups ${managementGroupName} --first 1000 \${token:+--skip-token "$token"} --graph-query "policyresources | where type =~ \'microsoft.policyinsights/policystates\' | where tostring(properties.complianceState) =~ \'NonCompliant\' | where tostring(properties.policyDefinitionReferenceId) in~ (${join(map(references, reference => '\'${reference}\''), ', ')}) | project id, resourceId = tostring(properties.resourceId) | order by id asc" --query "[[skip_token || \'\'], data[].resourceId][]" --output tsv) || break; echo "$page" | tail -n +2; token=$(echo "$page" | head -n 1); test -n "$token" || break; done'

@description('The ids in the initiatives of the policies that list resources, one for each kind of resource and target.')
func listed(list string) string[] =>
  flatten(map(
    ['virtual-machine', 'scale-set'],
    kind => map(['linux-x64', 'linux-arm64', 'win-x64'], target => '${list}-${kind}-${shortNameOf(target)}')
  ))

var auditUserInitiatedEvents = userInitiatedEvents == 'platformApproves'

// Every rule for a kind of resource starts with the same conditions, which select the eligible resources.
// assumption: policy-new-vm, policy-older-api-versions, policy-two-modifiers, policy-update-one-application
var virtualMachineRules = concat(
  [
    loadJsonContent('policy/identity-virtual-machine.json')
    loadJsonContent('policy/inject-virtual-machine.json')
    loadJsonContent('policy/update-virtual-machine.json')
    loadJsonContent('policy/uncovered-virtual-machine.json')
  ],
  // assumption: policy-aliases-scheduled-events
  // Its aliases are newer than the others, and a definition with an alias that a cloud does not know fails the deployment,
  // so it is deployed only if it is needed.
  auditUserInitiatedEvents ? [loadJsonContent('policy/user-events-virtual-machine.json')] : []
)
// assumption: policy-scale-set-rest-of-model
var scaleSetRules = concat(
  [
    loadJsonContent('policy/identity-scale-set.json')
    loadJsonContent('policy/inject-scale-set.json')
    loadJsonContent('policy/update-scale-set.json')
    loadJsonContent('policy/uncovered-scale-set.json')
  ],
  auditUserInitiatedEvents ? [loadJsonContent('policy/user-events-scale-set.json')] : []
)
// assumption: policy-managed-resource-groups, policy-windows-aliases, policy-windows-in-assigned-definition, policy-windows-request
var eligibleVirtualMachine = loadJsonContent('policy/eligible-virtual-machine.json')
var eligibleScaleSet = loadJsonContent('policy/eligible-scale-set.json')
var definitions = concat(
  map(virtualMachineRules, rule => { eligible: eligibleVirtualMachine, rule: rule }),
  map(scaleSetRules, rule => { eligible: eligibleScaleSet, rule: rule })
)

module galleryDeployed '../bicep/modules/gallery.bicep' = {
  scope: resourceGroup(gallery.subscriptionId, gallery.resourceGroupName)
  params: {
    name: gallery.name
    location: gallery.region
    publisherIdentityResourceId: gallery.publisherIdentityResourceId
    tags: tags
  }
}

module people '../bicep/modules/gallery-readers.bicep' = {
  scope: resourceGroup(gallery.subscriptionId, gallery.resourceGroupName)
  params: {
    galleryName: gallery.name
    readers: galleryReaders
  }
  dependsOn: [galleryDeployed]
}

module application '../bicep/modules/vm-application.bicep' = [
  for platform in platforms: {
    scope: resourceGroup(gallery.subscriptionId, gallery.resourceGroupName)
    params: {
      galleryName: gallery.name
      location: gallery.region
      platformName: platform.name
      regions: platform.regions
      targets: platform.targets
      versions: platform.versions
      tags: tags
    }
    dependsOn: [galleryDeployed]
  }
]

resource policyDefinition 'Microsoft.Authorization/policyDefinitions@2025-03-01' = [
  for definition in definitions: {
    name: definition.rule.name
    properties: {
      policyType: 'Custom'
      // Indexed: only resources with a location and tags.
      mode: 'Indexed'
      displayName: definition.rule.displayName
      description: definition.rule.description
      metadata: {
        category: 'Compute'
        version: '1.1.0'
      }
      parameters: union(definition.eligible.parameters, definition.rule.parameters)
      policyRule: {
        if: {
          allOf: concat(definition.eligible.conditions, definition.rule.conditions)
        }
        then: definition.rule.then
      }
    }
  }
]

module assignment '../bicep/modules/policy-assignment.bicep' = [
  for (platform, index) in platforms: {
    params: {
      platformName: platform.name
      location: location
      definitions: [
        for (definition, position) in definitions: {
          name: definition.rule.name
          resourceId: policyDefinition[position].id
        }
      ]
      rings: platform.rings
      versions: platform.versions
      applications: application[index].outputs.applications
      identityResourceId: platform.settings.identityResourceId
      regions: platform.regions
      armSizeMarks: armSizeMarks
      unsupportedImages: unsupportedImages
      ringTag: ringTag
      optOutTag: optOutTag
      auditUserInitiatedEvents: auditUserInitiatedEvents
      enforcementMode: enforcementMode
      notScopes: notScopes
    }
  }
]

// Role assignments are named after their principal, here the identity that Azure creates with the policy assignment, so
// what-if does not show them.
module policyRoles '../bicep/modules/policy-roles.bicep' = [
  for (platform, index) in platforms: {
    params: {
      // Known only after the deployment of the assignment.
      #disable-next-line what-if-short-circuiting
      principalId: assignment[index].outputs.principalId
    }
  }
]

module policyReads '../bicep/modules/gallery-readers.bicep' = [
  for (platform, index) in platforms: {
    scope: resourceGroup(gallery.subscriptionId, gallery.resourceGroupName)
    params: {
      galleryName: gallery.name
      // Known only after the deployment of the assignment.
      #disable-next-line what-if-short-circuiting
      readers: [
        {
          principalId: assignment[index].outputs.principalId
          principalType: 'ServicePrincipal'
        }
      ]
    }
    dependsOn: [galleryDeployed]
  }
]

module policyAttaches '../bicep/modules/identity-operators.bicep' = [
  for (platform, index) in platforms: {
    scope: resourceGroup(
      split(platform.settings.identityResourceId, '/')[2],
      split(platform.settings.identityResourceId, '/')[4]
    )
    params: {
      identityName: last(split(platform.settings.identityResourceId, '/'))
      // Known only after the deployment of the assignment.
      #disable-next-line what-if-short-circuiting
      principalIds: [assignment[index].outputs.principalId]
    }
  }
]

module remediation '../bicep/modules/remediation.bicep' = [
  for (platform, index) in platforms: if (!empty(remediate)) {
    params: {
      assignmentResourceId: assignment[index].outputs.resourceId
      platformName: platform.name
      references: filter(
        remediableReferences(platform.rings, platform.targets, platform.versions),
        reference => reference.step == remediationStep && contains(remediate, reference.ring)
      )
      round: remediationRound
    }
    dependsOn: [
      policyRoles[index]
      policyReads[index]
      policyAttaches[index]
    ]
  }
]

@description('The config.json of each platform, which has to be at configurationUri of its versions.')
output configurations { *: string } = toObject(
  platforms,
  platform => platform.name,
  platform => string(bridgeConfiguration(platform.settings, userInitiatedEvents, platform.?vms ?? 1))
)

// assumption: logs-throttled
@description('Platforms whose rows wait for minutes if one event affects all their VMs at once, each with how to avoid it. Empty if the property vms of each is at most 9,600, or missing.')
output platformsToDivide string[] = map(
  filter(platforms, platform => (platform.?vms ?? 1) > 9600),
  platform =>
    'Platform ${platform.name} has up to ${platform.?vms} VMs. If one event affects all of them, their rows take about ${((platform.?vms ?? 1) + 11999) / 12000} minutes, since a data collection rule accepts 12,000 requests a minute. To avoid that, divide its regions among ${((platform.?vms ?? 1) + 9599) / 9600} platforms, each with a shard of its own.'
)

@description('Names of the policy assignments.')
output assignmentNames string[] = [for (platform, index) in platforms: assignment[index].outputs.name]

@description('Command that lists the VMs and scale sets that could run the bridge but do not get it: their only user-assigned identity is not that of the bridges, their ring tag names no ring, the version of their ring has no package for them, or they have 25 applications already.')
output listUncovered string = nonCompliant(managementGroup().name, listed('uncovered'))

@description('With platformApproves: commands that list the VMs and scale sets on which user-initiated restarts still wait, and set their policy. Empty otherwise.')
output setUserInitiatedEvents string[] = auditUserInitiatedEvents
  ? [
      '${nonCompliant(managementGroup().name, listed('user-events'))} > ids'
      'grep -i /virtualMachines/ ids | xargs -n 1 az vm update --enable-user-reboot-scheduled-events true --enable-user-redeploy-scheduled-events true --ids'
      'grep -i /virtualMachineScaleSets/ ids | xargs -n 1 az resource update --api-version 2024-11-01 --set properties.scheduledEventsPolicy=\'{"userInitiatedReboot":{"automaticallyApprove":true},"userInitiatedRedeploy":{"automaticallyApprove":true}}\' --ids'
    ]
  : []
