metadata name = 'Types'
metadata description = 'What the modules and the compositions say to each other. One module owns each resource; what several of them must agree on stands here.'

// ---------------------------------------------------------------------------
// What a bridge must know
// ---------------------------------------------------------------------------

@export()
@description('What a bridge must know of its platform: one shard, and the identity by which it writes. Nothing in it is a secret.')
type bridgeSettingsType = {
  @description('Required. Host of the Event Hubs namespace, without scheme and port.')
  fullyQualifiedNamespace: string

  @description('Required. Event hub that takes the lifecycle records.')
  eventHubName: string

  @description('Required. Endpoint of the data collection rule, or of the data collection endpoint where the platform is private.')
  logsIngestionEndpoint: string

  @description('Required. Immutable id of the data collection rule, dcr-….')
  ruleId: string

  @description('Required. Stream of the rule that takes the lifecycle records.')
  streamName: string

  @description('Required. Stream of the rule that takes the heartbeats.')
  heartbeatStreamName: string

  @description('Required. Client id of the user-assigned identity. The bridge always names it: a VM may have several.')
  identityClientId: string

  @description('Required. Resource id of the same identity: what is attached to the VMs.')
  identityResourceId: string
}

@export()
@description('Who lets an event go ahead that a person asked for, and who waits. acceptDelay: nobody, so a restart by a person waits out its notice, for the whole scale set. bridgeApproves: the bridge, as soon as it has recorded it. platformApproves: Azure, by the scheduledEventsPolicy of the VM or scale set.')
type userInitiatedEventsType = 'acceptDelay' | 'bridgeApproves' | 'platformApproves'

@export()
@description('The configuration of a bridge, with the keys that the bridge reads. platformApproves is a property of the VM, not of the bridge: here it is the same as acceptDelay.')
func bridgeConfiguration(settings bridgeSettingsType, userInitiatedEvents string) object =>
  union(
    {
      identity: {
        clientId: settings.identityClientId
      }
      sinks: {
        eventHubs: {
          fullyQualifiedNamespace: settings.fullyQualifiedNamespace
          eventHubName: settings.eventHubName
        }
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
  @description('Required. Part of the names of the namespace and of the rule. Another name later is another namespace: records still in the old one stay there.')
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
@description('A shard as deployed: what the fleet needs to send the VMs of these regions to it.')
type deployedShardType = {
  @description('Required. Name of the shard.')
  name: string

  @description('Required. Regions whose VMs write to this shard.')
  regions: string[]

  @description('Required. What the bridges of these regions must know.')
  settings: bridgeSettingsType
}

@export()
@description('Size of an Event Hubs namespace and of its hub.')
type eventHubSizeType = {
  @description('Required. Standard takes 5,000 connections and grows by throughput units; Premium takes 10,000 connections a unit and costs by the hour. Standard cannot become Premium later.')
  skuName: 'Standard' | 'Premium'

  @description('Required. Throughput units at rest (Standard) or processing units (Premium). Each one is paid by the hour, used or not.')
  @minValue(1)
  @maxValue(40)
  capacity: int

  @description('Required. Throughput units up to which Standard grows by itself; it never shrinks by itself. 0 does not grow, and is what Premium needs.')
  @minValue(0)
  @maxValue(40)
  maximumThroughputUnits: int

  @description('Required. Partitions of the hub. Standard cannot change it later.')
  @minValue(1)
  @maxValue(32)
  partitionCount: int

  @description('Required. How long the hub keeps a record, in hours. Standard keeps 168 at most.')
  @minValue(1)
  @maxValue(168)
  retentionHours: int
}

@export()
@description('From which networks an Event Hubs namespace can be reached. Whoever comes from there still needs a token and a role.')
type eventHubNetworkType = {
  @description('Required. Disabled is for private endpoints only.')
  publicNetworkAccess: 'Enabled' | 'Disabled'

  @description('Required. Public addresses or ranges (CIDR) that are let in. With any range or subnet all others are refused.')
  allowedIpRanges: string[]

  @description('Required. Resource ids of subnets that are let in, each of which has the service endpoint Microsoft.EventHub.')
  allowedSubnetResourceIds: string[]
}

@export()
@description('Event Hubs Capture: every record as an Avro file in a storage account that exists.')
type captureType = {
  @description('Required. Resource id of the storage account. Its blobs are not deleted with the platform.')
  storageAccountResourceId: string

  @description('Required. Blob container, which exists.')
  containerName: string

  @description('Required. Resource id of a user-assigned identity that has the role Storage Blob Data Contributor on the container, and nothing more. Not the identity of the bridges.')
  identityResourceId: string

  @description('Optional. How long a file is filled before it is written, in seconds. Default: 300.')
  @minValue(60)
  @maxValue(900)
  intervalSeconds: int?
}

@export()
@description('A key of your own for what a namespace of Premium keeps. Only a namespace without hubs, such as a new one, takes it.')
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

  @description('Required. What it is. A wrong kind fails the deployment, where the principal is new.')
  principalType: 'User' | 'Group' | 'ServicePrincipal'
}

@export()
@description('How the platform is reached over private link. Given, Event Hubs and the rules refuse every public network.')
type privateLinkType = {
  @description('Required. Resource id of the subnet in which the private endpoints get their addresses.')
  subnetResourceId: string

  @description('Required. Region of the network.')
  location: string

  @description('Required. Resource id of the Azure Monitor private link scope that the network uses already, which is joined. Empty makes one, which is open: only where the network, and all that share its DNS, has none.')
  existingScopeResourceId: string

  @description('Required. Whether private DNS zones are made and linked to the network. Not where the network resolves by zones of the organisation.')
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
// Content: what people open and are called by
// ---------------------------------------------------------------------------

@export()
@description('A function saved in the workspace, called by its name in any query.')
type savedFunctionType = {
  @description('Required. Name by which queries call it.')
  @minLength(1)
  @maxLength(63)
  name: string

  @description('Required. Name that the portal shows.')
  displayName: string

  @description('Required. Text of the function. Parameters stand in its first line: // params: (Lookback:timespan=14d).')
  body: string
}

@export()
@description('A query of the query pack.')
type savedQueryType = {
  @description('Required. Stable name: the id of the query is made of it.')
  name: string

  @description('Required. Name that the portal shows.')
  displayName: string

  @description('Required. Text of the query. Its first line is a comment: the question that it answers.')
  body: string
}

@export()
@description('Someone who gets an e-mail.')
type emailReceiverType = {
  @description('Required. Name of the receiver.')
  name: string

  @description('Required. Address.')
  address: string
}

@export()
@description('Who is told of the alerts about VMs that have a tag owner with this value. The bridges have to publish the tag: observer.tags of their configuration.')
type alertRouteType = {
  @description('Required. Part of the name of the route.')
  name: string

  @description('Required. Value of the tag owner.')
  owner: string

  @description('Required. Resource ids of the action groups that are told, beside those of the platform.')
  @minLength(1)
  actionGroupResourceIds: string[]
}

// ---------------------------------------------------------------------------
// Fleet: what infra/fleet.bicep and infra/vm.bicep deploy
// ---------------------------------------------------------------------------

@export()
@description('Processor for which a package is built.')
type architectureType = 'x64' | 'arm64'

@export()
@description('Gallery that holds the VM applications: one of its own, which is made. A gallery that exists gets this identity in the place of those that it has.')
type galleryType = {
  @description('Required. Subscription of the gallery.')
  subscriptionId: string

  @description('Required. Resource group of the gallery, which exists.')
  resourceGroupName: string

  @description('Required. Name of the gallery: letters, digits, dots and underscores.')
  @minLength(1)
  @maxLength(80)
  name: string

  @description('Required. Region of the gallery. Every version is replicated to it too.')
  region: string

  @description('Required. Resource id of the user-assigned identity by which the gallery reads packages and configurations while it publishes them. It needs Storage Blob Data Contributor on their storage account.')
  publisherIdentityResourceId: string
}

@export()
@description('Addresses of the package of one version, one for each processor. Plain blob addresses without a signature: the gallery reads them by its identity.')
type packagesType = {
  @description('Optional. Blob address of the package linux-x64. Required where the platform names x64.')
  x64: string?

  @description('Optional. Blob address of the package linux-arm64. Required where the platform names arm64.')
  arm64: string?
}

@export()
@description('A published version: a package and a configuration. Neither can change once published, so another configuration is another version, and goes out ring by ring.')
type bridgeVersionType = {
  @description('Required. Major.Minor.Patch, such as 1.2.0.')
  @minLength(5)
  name: string

  @description('Required. Addresses of its packages.')
  packages: packagesType

  @description('Required. Blob address of its configuration: config.json of this platform, as the output configurations of the fleet gives it.')
  configurationUri: string
}

@export()
@description('A ring: the VMs that get the same version at the same time.')
type ringType = {
  @description('Required. Name of the ring, which is the value of the ring tag of its VMs.')
  @minLength(1)
  @maxLength(20)
  name: string

  @description('Required. The pinned version. Never latest: a version that was not asked for would be given to every new VM.')
  @minLength(5)
  version: string

  @description('Required. Whether VMs without the ring tag belong to it too. True for one ring at most.')
  untagged: bool
}

@export()
@description('A platform, or a shard of it, as the fleet sees it: which VMs write to it and what they run.')
type platformType = {
  @description('Required. Name, part of the names of its application and its policy assignment. An assignment of a management group has 24 characters for it.')
  @minLength(1)
  @maxLength(20)
  name: string

  @description('Required. Regions whose VMs write to it, as Azure writes them: westeurope. The application is replicated to exactly these. A region belongs to one platform.')
  @minLength(1)
  regions: string[]

  @description('Required. What its bridges must know: settings of the outputs of infra/main.bicep.')
  settings: bridgeSettingsType

  @description('Required. Processors that are served. VMs with another one are left alone.')
  @minLength(1)
  architectures: architectureType[]

  @description('Required. Versions that are published. Keep every version that a ring or a scale set still names: deleting one breaks scale-out and reimage.')
  @minLength(1)
  versions: bridgeVersionType[]

  @description('Required. Its rings.')
  @minLength(1)
  rings: ringType[]
}

@export()
@description('A VM application as published.')
type publishedApplicationType = {
  @description('Required. Processor of its package.')
  architecture: architectureType

  @description('Required. Resource id, without a version.')
  resourceId: string
}

@export()
@description('A policy definition as deployed.')
type deployedDefinitionType = {
  @description('Required. Name in the management group.')
  name: string

  @description('Required. Resource id.')
  resourceId: string
}

@export()
@description('Step of a remediation. identities: attaches the identity. applications: adds or updates the application. One after the other: two tasks that change one VM at the same time make one of the changes fail.')
type remediationStepType = 'identities' | 'applications'

@export()
@description('A policy of an initiative that can be remediated.')
type policyReferenceType = {
  @description('Required. Its id in the initiative.')
  id: string

  @description('Required. Ring that it is for.')
  ring: string

  @description('Required. Version that the ring is pinned to.')
  version: string

  @description('Required. Step in which it is remediated.')
  step: remediationStepType
}

@export()
@description('What can be remediated of the initiative of a platform, ring by ring. No two policies of one ring and step change the same VM.')
func remediableReferences(rings ringType[], architectures architectureType[]) policyReferenceType[] =>
  flatten(map(rings, ring =>
    map(
      concat(
        map(['virtual-machine', 'scale-set'], kind => { policy: 'identity-${kind}', step: 'identities' }),
        flatten(map(architectures, architecture =>
          map(
            [
              'inject-virtual-machine'
              'update-virtual-machine'
              'inject-scale-set'
              'update-scale-set'
            ],
            policy => { policy: '${policy}-${architecture}', step: 'applications' }
          )))
      ),
      remediable => {
        id: '${ring.name}-${remediable.policy}'
        ring: ring.name
        version: ring.version
        step: remediable.step
      }
    )))
