metadata name = 'Data collection rule'
metadata description = 'The rule to which bridges send, with one stream for each table of bicep/schema/columns.json.'

// Free of charge; ingestion is charged for the table.
// Limits: 12,000 requests and 2 GB a minute, so a large fleet needs several.
// Cannot be changed later: its id and its kind, both of which every bridge depends on.
// Going private later creates a new rule beside the old one, and needs a new configuration on every VM. Delete the old one
// when no VM sends to it.

import { tagsType } from '../types.bicep'

@export()
@description('Name of a rule as deployed. A private one has another name, because an existing rule cannot change its kind.')
func deployedRuleName(name string, isPrivate bool) string => isPrivate ? '${name}-private' : name

@export()
@description('Name of the endpoint of a private rule.')
func endpointName(ruleName string) string => replace(ruleName, 'dcr-', 'dce-')

@description('Required. Name of the rule. A private rule has the suffix -private, and its endpoint dce instead of dcr.')
@minLength(3)
@maxLength(44)
param name string

@description('Required. Region of the workspace, which must also be the region of the rule.')
param location string

@description('Optional. Tags of the rule.')
param tags tagsType = {}

@description('Required. Resource id of the workspace, in which the tables exist.')
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
    // A rule spells this type in lower case.
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
// assumption: logs-errors
var errorLog = [
  {
    category: 'LogErrors'
    enabled: true
  }
]

// Two resources, because the property kind of a rule without a kind cannot be empty.
// assumption: logs-rule-endpoint
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

@description('Immutable id of the rule to which the bridge sends.')
output ruleId string = isPrivate ? privateRule!.properties.immutableId : publicRule!.properties.immutableId

@description('Endpoint that the bridge sends to.')
output logsIngestionEndpoint string = isPrivate
  ? endpoint!.properties.logsIngestion.endpoint
  : publicRule!.properties.endpoints.logsIngestion

@description('Resource id of the endpoint, which has to join a private link scope; empty if the rule is public.')
output endpointResourceId string = isPrivate ? endpoint.id : ''

@description('Stream of the lifecycle records.')
output streamName string = 'Custom-VmLifecycle_CL'

@description('Stream of the heartbeats.')
output heartbeatStreamName string = 'Custom-VmLifecycleBridge_CL'
