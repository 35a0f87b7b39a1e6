metadata name = 'Types'
metadata description = 'The types shared by modules and templates. One module owns each resource; what several of them must agree on is here.'

// ---------------------------------------------------------------------------
// Settings of a bridge
// ---------------------------------------------------------------------------

@export()
@description('Settings that a bridge needs: one shard, and the identity with which it writes. None of them is a secret.')
type bridgeSettingsType = {
  @description('Required. Host of the Event Hubs namespace, without scheme and port.')
  fullyQualifiedNamespace: string

  @description('Required. Event hub for the lifecycle records.')
  eventHubName: string

  @description('Required. Endpoint of the data collection rule, or of the data collection endpoint where the platform is private.')
  logsIngestionEndpoint: string

  @description('Required. Immutable id of the data collection rule, dcr-….')
  ruleId: string

  @description('Required. Stream of the rule for the lifecycle records.')
  streamName: string

  @description('Required. Stream of the rule for the heartbeats.')
  heartbeatStreamName: string

  @description('Required. Client id of the user-assigned identity. The bridge always names it, because a VM may have several.')
  identityClientId: string

  @description('Required. Resource id of the same identity, which is attached to the VMs.')
  identityResourceId: string
}

@export()
@description('Who approves user-initiated events. acceptDelay: no one, so a user-initiated restart waits for its whole notice, in the whole scale set. bridgeApproves: the bridge, as soon as it has recorded it. platformApproves: Azure, by the scheduledEventsPolicy of the VM or scale set.')
type userInitiatedEventsType = 'acceptDelay' | 'bridgeApproves' | 'platformApproves'

@export()
@description('The configuration of a bridge, with the keys that the bridge reads. platformApproves is a property of the VM, not of the bridge: here it is the same as acceptDelay.')
func bridgeConfiguration(settings bridgeSettingsType, userInitiatedEvents string, vms int) object =>
  union(
    {
      identity: {
        clientId: settings.identityClientId
      }
      sinks: {
        // Above 4,000 VMs, an event of all of them could use up the 5,000 connections of a Standard namespace.
        eventHubs: union(
          {
            fullyQualifiedNamespace: settings.fullyQualifiedNamespace
            eventHubName: settings.eventHubName
          },
          vms > 4000
            ? {
                connectJitterSeconds: 60
              }
            : {}
        )
        logAnalytics: {
          endpoint: settings.logsIngestionEndpoint
          ruleId: settings.ruleId
          streamName: settings.streamName
        }
      }
      heartbeat: {
        streamName: settings.heartbeatStreamName
      }
    },
    userInitiatedEvents == 'bridgeApproves'
      ? {
          approve: {
            userInitiated: true
          }
        }
      : {}
  )

// ---------------------------------------------------------------------------
// Platform: what infra/main.bicep deploys
// ---------------------------------------------------------------------------

@export()
@description('Tags of a resource.')
type tagsType = {
  @description('Optional. Value of the tag.')
  *: string
}

@export()
@description('A shard: one Event Hubs namespace and one data collection rule, for the VMs of some regions. All shards write to the same tables.')
type shardType = {
  @description('Required. Part of the names of the namespace and of the rule. If you change it later, a new namespace is created; records that are still in the old one stay there.')
  @minLength(1)
  @maxLength(8)
  name: string

  @description('Required. Region of the Event Hubs namespace.')
  location: string

  @description('Required. Regions whose VMs write to this shard. A region belongs to one shard.')
  @minLength(1)
  regions: string[]
}

@export()
@description('A shard as deployed, for the fleet.')
type deployedShardType = {
  @description('Required. Name of the shard.')
  name: string

  @description('Required. Regions whose VMs write to this shard.')
  regions: string[]

  @description('Required. Settings of the bridges of these regions.')
  settings: bridgeSettingsType
}

@export()
@description('Size of an Event Hubs namespace and of its hub.')
type eventHubSizeType = {
  @description('Required. Standard accepts 5,000 connections and scales by throughput units; Premium accepts 10,000 connections per unit and is charged by the hour. Standard cannot become Premium later.')
  skuName: 'Standard' | 'Premium'

  @description('Required. Throughput units at rest (Standard) or processing units (Premium). Each is charged by the hour, used or not.')
  @minValue(1)
  @maxValue(40)
  capacity: int

  @description('Required. Throughput units up to which Standard scales up automatically; it never scales down. 0: no scaling, as Premium requires.')
  @minValue(0)
  @maxValue(40)
  maximumThroughputUnits: int

  @description('Required. Partitions of the hub. Cannot be changed later on Standard.')
  @minValue(1)
  @maxValue(32)
  partitionCount: int

  @description('Required. How long the hub keeps a record, in hours; at most 168 on Standard.')
  @minValue(1)
  @maxValue(168)
  retentionHours: int
}

@export()
@description('Networks from which an Event Hubs namespace can be reached. Clients there still need a token and a role.')
type eventHubNetworkType = {
  @description('Required. Disabled is for private endpoints only.')
  publicNetworkAccess: 'Enabled' | 'Disabled'

  @description('Required. Public addresses or ranges (CIDR) to allow. If any range or subnet is named, all others are refused.')
  allowedIpRanges: string[]

  @description('Required. Resource ids of subnets to allow, each with the service endpoint Microsoft.EventHub.')
  allowedSubnetResourceIds: string[]
}

@export()
@description('Event Hubs Capture: writes all records as Avro files to an existing storage account.')
type captureType = {
  @description('Required. Resource id of the storage account. Its blobs are not deleted with the platform.')
  storageAccountResourceId: string

  @description('Required. Existing blob container.')
  containerName: string

  @description('Required. Resource id of a user-assigned identity that has the role Storage Blob Data Contributor on the container, and nothing more. Not the identity of the bridges.')
  identityResourceId: string

  @description('Optional. How long records are collected before a file is written, in seconds. Default: 300.')
  @minValue(60)
  @maxValue(900)
  intervalSeconds: int?
}

@export()
@description('A customer-managed key for a Premium namespace. Only for a namespace without hubs, such as a new one.')
type encryptionKeyType = {
  @description('Required. Address of the key vault, which has soft delete and purge protection.')
  keyVaultUri: string

  @description('Required. Name of the key. Its newest version is used, so that it can be rotated.')
  keyName: string

  @description('Required. Resource id of a user-assigned identity that has the role Key Vault Crypto Service Encryption User on the key. Not the identity of the bridges.')
  identityResourceId: string
}

@export()
@description('A person or group, or a program, that reads the records from the hub.')
type readerType = {
  @description('Required. Object id in Microsoft Entra ID.')
  principalId: string

  @description('Required. Its kind. With a wrong kind the deployment fails if the principal is new.')
  principalType: 'User' | 'Group' | 'ServicePrincipal'
}

@export()
@description('How the platform is reached over private link. If set, Event Hubs and the rules refuse every public network.')
type privateLinkType = {
  @description('Required. Resource id of the subnet in which the private endpoints get their addresses.')
  subnetResourceId: string

  @description('Required. Region of the network.')
  location: string

  @description('Required. Resource id of the Azure Monitor private link scope that the network uses already, which is joined. Empty makes one, which is open: only where the network, and all that share its DNS, has none.')
  existingScopeResourceId: string

  @description('Required. Whether to create private DNS zones and link them to the network. Not if the network resolves names by zones of the organization.')
  createPrivateDnsZones: bool

  @description('Conditional. Resource id of the network. Required with createPrivateDnsZones.')
  virtualNetworkResourceId: string?

  @description('Optional. Resource id of the private DNS zone of the organisation for Event Hubs.')
  eventHubsZoneResourceId: string?

  @description('Optional. Resource id of the private DNS zone of the organisation for Azure Monitor.')
  monitorZoneResourceId: string?
}

@export()
@description('A database of Azure Data Explorer that reads the hub.')
type dataExplorerType = {
  @description('Required. Resource id of the cluster.')
  clusterResourceId: string

  @description('Required. Region of the cluster.')
  location: string

  @description('Required. Name of the database.')
  databaseName: string

  @description('Required. Resource id of the managed identity with which it reads: a user-assigned identity of the cluster, or the cluster itself.')
  managedIdentityResourceId: string

  @description('Required. Principal id of that identity. It becomes a reader of the hub.')
  managedIdentityPrincipalId: string
}

// ---------------------------------------------------------------------------
// Content: queries, dashboards and alerts
// ---------------------------------------------------------------------------

@export()
@description('A function saved in the workspace, called by its name in any query.')
type savedFunctionType = {
  @description('Required. Name by which queries call it.')
  @minLength(1)
  @maxLength(63)
  name: string

  @description('Required. Display name in the portal.')
  displayName: string

  @description('Required. Text of the function. Its first line has the parameters: // params: (Lookback:timespan=14d).')
  body: string
}

@export()
@description('A query of the query pack.')
type savedQueryType = {
  @description('Required. Stable name, from which the id of the query is generated.')
  name: string

  @description('Required. Display name in the portal.')
  displayName: string

  @description('Required. Text of the query. Its first line is a comment: the question that it answers.')
  body: string
}

@export()
@description('A recipient of e-mails.')
type emailReceiverType = {
  @description('Required. Name of the receiver.')
  name: string

  @description('Required. Address.')
  address: string
}

@export()
@description('Who receives alerts about VMs whose tag owner has this value. The bridges have to publish the tag: observer.tags of their configuration.')
type alertRouteType = {
  @description('Required. Part of the name of the route.')
  name: string

  @description('Required. Value of the tag owner.')
  owner: string

  @description('Required. Resource ids of the action groups to notify in addition to those of the platform.')
  @minLength(1)
  actionGroupResourceIds: string[]
}
