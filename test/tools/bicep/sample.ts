/** A small platform without a fault, to plant faults in: text by path. */
export const sample: Readonly<Record<string, string>> = {
  'sample/columns.json': JSON.stringify({
    tables: { Records_CL: [{ name: 'TimeGenerated', type: 'dateTime' }] },
  }),
  'sample/rule.json': JSON.stringify({ if: { field: 'type', equals: "[parameters('type')]" } }),

  'sample/types.bicep': `metadata name = 'Types'
metadata description = 'What the files say to each other.'

@export()
@description('Size of a hub.')
type sizeType = {
  @description('Required. Name of the SKU.')
  sku: 'Standard' | 'Premium'

  @description('Optional. Partitions of the hub.')
  @minValue(1)
  @maxValue(32)
  partitions: int?
}

@export()
@description('Host of a namespace.')
func hostOf(name string, suffix string) string => '\${name}.\${suffix}'
`,

  'sample/hub.bicep': `metadata name = 'Hub'
metadata description = 'A namespace, and who may write to it.'

import { hostOf, sizeType } from 'types.bicep'

@description('Required. Name of the namespace.')
@minLength(6)
@maxLength(50)
param name string

@description('Required. Region.')
param location string

@description('Required. Size of the hub.')
param size sizeType

@description('Required. Principal id of the sender.')
param senderId string

@description('Optional. Consumer groups of the hub.')
param consumerGroups string[] = ['tail']

var senderRole = subscriptionResourceId('Microsoft.Authorization/roleDefinitions', eventHubsDataSender)
var eventHubsDataSender = '2b629674-e913-4c01-ae53-ef4638d8f975'

resource namespace 'Microsoft.EventHub/namespaces@2024-01-01' = {
  name: name
  location: location
  sku: {
    name: size.sku
    capacity: 1
  }
  properties: {
    disableLocalAuth: true
    minimumTlsVersion: '1.2'
  }
}

resource hub 'Microsoft.EventHub/namespaces/eventhubs@2024-01-01' = {
  parent: namespace
  name: 'vm-lifecycle'
  properties: {
    partitionCount: size.?partitions ?? 8
  }
}

resource groups 'Microsoft.EventHub/namespaces/eventhubs/consumergroups@2024-01-01' = [for group in consumerGroups: {
  parent: hub
  name: group
}]

resource sender 'Microsoft.Authorization/roleAssignments@2022-04-01' = {
  name: guid(hub.id, senderId, senderRole)
  scope: hub
  properties: {
    principalId: senderId
    principalType: 'ServicePrincipal'
    roleDefinitionId: senderRole
  }
}

@description('Resource id of the hub.')
output resourceId string = hub.id

@description('Host of the namespace.')
output host string = hostOf(namespace.name, environment().suffixes.storage)

@description('Names of the consumer groups.')
output groups string[] = [for (group, turn) in consumerGroups: groups[turn].name]
`,

  'sample/tables.bicep': `metadata name = 'Tables'
metadata description = 'The tables of columns.json.'

@description('Required. Name of the workspace.')
param workspaceName string

var schema = loadJsonContent('columns.json')

resource workspace 'Microsoft.OperationalInsights/workspaces@2025-07-01' existing = {
  name: workspaceName
}

resource table 'Microsoft.OperationalInsights/workspaces/tables@2025-07-01' = {
  parent: workspace
  name: 'Records_CL'
  properties: {
    plan: 'Analytics'
    schema: {
      name: 'Records_CL'
      columns: map(schema.tables.Records_CL, column => { name: column.name, type: column.type })
    }
  }
}
`,

  'sample/rule.bicep': `metadata name = 'Rule'
metadata description = 'The rule that writes to the tables.'

@description('Required. Name of the rule.')
param name string

@description('Required. Region.')
param location string

resource rule 'Microsoft.Insights/dataCollectionRules@2024-03-11' = {
  name: name
  location: location
  kind: 'Direct'
  properties: {
    description: 'Records of VMs.'
  }
}

@description('Immutable id of the rule.')
output ruleId string = rule.properties.immutableId
`,

  'sample/vm.bicep': `metadata name = 'Extension'
metadata description = 'A program on a VM.'

@description('Required. Name of the VM.')
param vmName string

@description('Required. Command that installs the program.')
@secure()
param command string

resource vm 'Microsoft.Compute/virtualMachines@2024-11-01' existing = {
  name: vmName
}

resource extension 'Microsoft.Compute/virtualMachines/extensions@2024-11-01' = {
  parent: vm
  name: 'bridge'
  location: vm.location
  properties: {
    publisher: 'Microsoft.Azure.Extensions'
    type: 'CustomScript'
    typeHandlerVersion: '2.1'
    protectedSettings: {
      commandToExecute: command
    }
  }
}
`,

  'sample/main.bicep': `metadata name = 'Platform'
metadata description = 'All of it.'

import { sizeType } from 'types.bicep'

@description('Required. Region.')
param location string

@description('Optional. Size of the hub.')
param size sizeType = { sku: 'Standard' }

@description('Optional. Tags of every resource.')
param tags { *: string } = {}

var rule = loadJsonContent('rule.json')

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'id-bridge'
  location: location
  tags: tags
}

module hub 'hub.bicep' = {
  params: {
    name: 'evhns-bridge'
    location: location
    size: size
    senderId: deployer().objectId
  }
}

module tables 'tables.bicep' = {
  params: {
    workspaceName: 'log-bridge'
  }
}

module collection 'rule.bicep' = {
  params: {
    name: 'dcr-bridge'
    location: location
  }
  dependsOn: [
    tables
  ]
}

@description('Resource id of the hub.')
output hubId string = hub.outputs.resourceId

@description('Immutable id of the rule.')
output ruleId string = collection.outputs.ruleId

@description('What the rule is about.')
output about string = rule.if.field
`,

  'sample/main.bicepparam': `using 'main.bicep'

param location = 'westeurope'
param size = {
  sku: 'Premium'
  partitions: 32
}
`,
};

/** The files of Bicep in it. */
export const samplePaths = Object.keys(sample).filter((path) => path.includes('.bicep'));

/** The sample with one thing changed. @throws where what is to be changed is not in it exactly once */
export function planted({
  file,
  from,
  to,
}: {
  file: string;
  from: string;
  to: string;
}): (path: string) => string | null {
  const path = `sample/${file}`;
  const text = sample[path] ?? '';
  if (text.split(from).length !== 2) throw new Error(`${JSON.stringify(from)} does not stand once in ${path}`);
  return (asked) => (asked === path ? text.replace(from, () => to) : (sample[asked] ?? null));
}
