metadata name = 'Fleet types'
metadata description = 'Types shared by infra/fleet.bicep and its modules.'

import { bridgeSettingsType } from 'types.bicep'

@export()
@description('What a package is built for: operating system and processor, as in its file name.')
type targetType = 'linux-x64' | 'linux-arm64' | 'win-x64'

@export()
@description('Operating system, as Azure names it.')
type osType = 'Linux' | 'Windows'

@export()
@description('Operating system of a target.')
func osTypeOf(target targetType) osType => startsWith(target, 'win-') ? 'Windows' : 'Linux'

// Those for Linux are named by their processor alone: renaming an application would publish and install it again.
@export()
@description('Part of the names of applications and policies that tells targets apart.')
func shortNameOf(target targetType) string => replace(target, 'linux-', '')

@export()
@description('Gallery for the VM applications. Name a new one, which is created: on an existing gallery this identity would replace the assigned ones.')
type galleryType = {
  @description('Required. Subscription of the gallery.')
  subscriptionId: string

  @description('Required. Existing resource group for the gallery.')
  resourceGroupName: string

  @description('Required. Name of the gallery: letters, digits, dots and underscores.')
  @minLength(1)
  @maxLength(80)
  name: string

  @description('Required. Region of the gallery. Every version is replicated to it as well.')
  region: string

  @description('Required. Resource id of the user-assigned identity with which the gallery reads packages and configurations while it publishes them. It needs Storage Blob Data Contributor on their storage account.')
  publisherIdentityResourceId: string
}

@export()
@description('Addresses of the packages of one version. Plain blob addresses without a signature: the gallery reads them with its identity.')
type packagesType = {
  @description('Optional. Blob address of the archive linux-x64.tar.gz.')
  'linux-x64': string?

  @description('Optional. Blob address of the archive linux-arm64.tar.gz.')
  'linux-arm64': string?

  @description('Optional. Blob address of the archive win-x64.zip.')
  'win-x64': string?
}

@export()
@description('A published version: a package and a configuration. Neither can change once published; to change the configuration, publish a new version and roll it out ring by ring.')
type bridgeVersionType = {
  @description('Required. Major.Minor.Patch, such as 1.2.0.')
  @minLength(5)
  name: string

  @description('Required. Addresses of its packages. Targets without one do not get this version.')
  packages: packagesType

  @description('Required. Blob address of its configuration: the config.json of this platform, as in the output configurations of the fleet.')
  configurationUri: string
}

@export()
@description('A ring: the VMs that get the same version at the same time.')
type ringType = {
  @description('Required. Name of the ring: the value of the ring tag of its VMs.')
  @minLength(1)
  @maxLength(20)
  name: string

  @description('Required. The pinned version, one of those of the platform. VMs for which it has no package stay without the bridge. Never latest, because every new VM would get a version that you did not choose.')
  @minLength(5)
  version: string

  @description('Required. Whether VMs without the ring tag belong to it as well. True for one ring at most.')
  untagged: bool
}

@export()
@description('A platform, or a shard of it: which VMs write to it, and which version they run.')
type platformType = {
  @description('Required. Name, part of the names of its application and its policy assignment. The name of an assignment of a management group may have 24 characters.')
  @minLength(1)
  @maxLength(20)
  name: string

  @description('Required. Regions whose VMs write to it, in the spelling of Azure: westeurope. The application is replicated to exactly these. A region belongs to one platform, or to several with different targets.')
  @minLength(1)
  regions: string[]

  @description('Required. Settings of its bridges: the output settings of infra/main.bicep.')
  settings: bridgeSettingsType

  @description('Optional. The largest number of VMs that it will have. Above 4,000 the configuration of its bridges spreads their connections; above 9,600, four fifths of what a data collection rule accepts in a minute, the output platformsToDivide names it.')
  @minValue(1)
  vms: int?

  @description('Required. Operating systems and processors on which the bridge is installed. Other VMs are not changed.')
  @minLength(1)
  targets: targetType[]

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
  @description('Required. Operating system and processor of its packages.')
  target: targetType

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
@description('Step of a remediation. identities: attaches the identity. applications: adds or updates the application. Run them one after the other: if two tasks change one VM at the same time, one of the changes fails.')
type remediationStepType = 'identities' | 'applications'

@export()
@description('A policy of an initiative that can be remediated.')
type policyReferenceType = {
  @description('Required. Its id in the initiative.')
  id: string

  @description('Required. Its ring.')
  ring: string

  @description('Required. Version that the ring is pinned to.')
  version: string

  @description('Required. Step in which it is remediated.')
  step: remediationStepType
}

@export()
@description('Operating systems of the targets.')
func osTypesOf(targets targetType[]) osType[] =>
  filter(['Linux', 'Windows'], system => contains(map(targets, target => osTypeOf(target)), system))

// A ring may stay at a version that was published before the fleet had a target. A policy that named it would make requests for VMs fail.
@export()
@description('The targets for which a version has a package.')
func packagedTargets(targets targetType[], versions bridgeVersionType[], name string) targetType[] =>
  filter(targets, target =>
    !empty(filter(versions, version => version.name == name && contains(version.packages, target))))

@export()
@description('Name of the policy of a ring that attaches the identity to one kind of resource with this operating system.')
func identityPolicyOf(kind string, system osType) string =>
  system == 'Linux' ? 'identity-${kind}' : 'identity-${kind}-${toLower(system)}'

@export()
@description('The policies of the initiative of a platform that can be remediated, ring by ring. No two policies of one ring and step change the same VM.')
func remediableReferences(rings ringType[], targets targetType[], versions bridgeVersionType[]) policyReferenceType[] =>
  flatten(map(rings, ring =>
    map(
      concat(
        flatten(map(osTypesOf(packagedTargets(targets, versions, ring.version)), system =>
          map(
            ['virtual-machine', 'scale-set'],
            kind => { policy: identityPolicyOf(kind, system), step: 'identities' }
          ))),
        flatten(map(packagedTargets(targets, versions, ring.version), target =>
          map(
            [
              'inject-virtual-machine'
              'update-virtual-machine'
              'inject-scale-set'
              'update-scale-set'
            ],
            policy => { policy: '${policy}-${shortNameOf(target)}', step: 'applications' }
          )))
      ),
      remediable => {
        id: '${ring.name}-${remediable.policy}'
        ring: ring.name
        version: ring.version
        step: remediable.step
      }
    )))
