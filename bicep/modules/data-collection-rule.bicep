metadata name = 'Data collection rule'
metadata description = 'The rule to which bridges send, with one stream for each table of bicep/schema/columns.json.'

// Free itself; what it takes in is paid at the table.
// Limits: 12,000 requests and 2 GB a minute, so a large fleet has several.
// Cannot be changed later: its id and its kind, both of which every bridge depends on.
// Going private later makes a new rule beside the old one, and needs a new configuration on every VM. Delete the old one
// when no VM sends to it.

import { tagsType } from '../types.bicep'

@export()
@description('Name of a rule as deployed. A private one has another name, because an existing rule cannot change its kind.')
func deployedRuleName(name string, isPrivate bool) string => isPrivate ? '${name}-private' : name

@export()
@description('Name of the endpoint of a private rule.')
func endpointName(ruleName string) string => replace(ruleName, 'dcr-', 'dce-')

@description('Required. Name of the rule; a private one is called the same with -private, and its endpoint with dce for dcr.')
@minLength(3)
@maxLength(44)
param name string

@description('Required. Region of the workspace: a rule cannot be anywhere else.')
param location string

@description('Optional. Tags of the rule.')
param tags tagsType = {}

@description('Required. Resource id of the workspace, whose tables exist.')
param workspaceResourceId string

@description('Optional. Whether the rule is reachable over private link only. It then has its own endpoint, which has to join a private link scope.')
param isPrivate bool = false

@description('Optional. Whether records that the rule rejects are reported in the table DCRLogErrors of the same workspace.')
param enableErrorLog bool = true

var schema = loadJsonContent('../schema/columns.json')
var destination = 'workspace'
var streams = toObject(
  items(schema.tables),
  table => 'Custom-${table.key}',
  table => {
    // A rule spells this type without the capital.
    columns: map(table.value, column => {
      name: column.name
      type: column.type == 'dateTime' ? 'datetime' : column.type
    })
  }
)
var destinations = {
  logAnalytics: [
    {
      name: destination
      workspaceResourceId: workspaceResourceId
    }
  ]
}
var flows = [
  for table in items(schema.tables): {
    streams: ['Custom-${table.key}']
    destinations: [destination]
    // Streams and tables have the same columns, so they cannot drift apart.
    transformKql: 'source'
    outputStream: 'Custom-${table.key}'
  }
]
var errorLogName = 'errors'
var errorLog = [
  {
    category: 'LogErrors'
    enabled: true
  }
]

// Two resources, as the kind of a rule that has none cannot be left empty.
resource publicRule 'Microsoft.Insights/dataCollectionRules@2024-03-11' = if (!isPrivate) {
  name: name
  location: location
  tags: tags
  kind: 'Direct'
  properties: {
    description: 'Lifecycle records and heartbeats of VMs.'
    streamDeclarations: streams
    destinations: destinations
    dataFlows: flows
  }
}

resource endpoint 'Microsoft.Insights/dataCollectionEndpoints@2024-03-11' = if (isPrivate) {
  name: endpointName(name)
  location: location
  tags: tags
  properties: {
    description: 'Private way in for lifecycle records and heartbeats of VMs.'
    networkAcls: {
      publicNetworkAccess: 'Disabled'
    }
  }
}

resource privateRule 'Microsoft.Insights/dataCollectionRules@2024-03-11' = if (isPrivate) {
  name: deployedRuleName(name, true)
  location: location
  tags: tags
  properties: {
    description: 'Lifecycle records and heartbeats of VMs, over private link.'
    dataCollectionEndpointId: endpoint.id
    streamDeclarations: streams
    destinations: destinations
    dataFlows: flows
  }
}

resource publicErrorLog 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (!isPrivate && enableErrorLog) {
  name: errorLogName
  scope: publicRule
  properties: {
    workspaceId: workspaceResourceId
    logs: errorLog
  }
}

resource privateErrorLog 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = if (isPrivate && enableErrorLog) {
  name: errorLogName
  scope: privateRule
  properties: {
    workspaceId: workspaceResourceId
    logs: errorLog
  }
}

@description('Name of the rule.')
output name string = deployedRuleName(name, isPrivate)

@description('Resource id of the rule.')
output resourceId string = isPrivate ? privateRule.id : publicRule.id

@description('Immutable id of the rule: what the bridge sends to.')
output ruleId string = isPrivate ? privateRule!.properties.immutableId : publicRule!.properties.immutableId

@description('Endpoint that the bridge sends to.')
output logsIngestionEndpoint string = isPrivate
  ? endpoint!.properties.logsIngestion.endpoint
  : publicRule!.properties.endpoints.logsIngestion

@description('Resource id of the endpoint that has to join a private link scope; empty where the rule is public.')
output endpointResourceId string = isPrivate ? endpoint.id : ''

@description('Stream of the lifecycle records.')
output streamName string = 'Custom-VmLifecycle_CL'

@description('Stream of the heartbeats.')
output heartbeatStreamName string = 'Custom-VmLifecycleBridge_CL'
