metadata name = 'VM application'
metadata description = 'The bridge as a VM application of a gallery, for one platform: one application for each operating system and processor, because the operating system of an application cannot change, and its versions, replicated to the regions of the platform. Costs the storage of each version in each region, about 45 MB a copy for Linux and 36 MB for Windows, and the first transfer to a region. Nothing of a published version can be changed but its regions: package, commands and configuration need a new one.'

import { bridgeVersionType, osTypeOf, publishedApplicationType, shortNameOf, targetType } from '../fleet-types.bicep'
import { tagsType } from '../types.bicep'

@description('Required. Name of the gallery, which exists in this resource group.')
param galleryName string

@description('Optional. Region of the gallery.')
param location string = resourceGroup().location

@description('Required. Name of the platform, part of the names of the applications.')
@minLength(1)
@maxLength(20)
param platformName string

@description('Required. Regions to which every version is replicated, beside that of the gallery. A VM elsewhere cannot get it.')
@minLength(1)
param regions string[]

@description('Optional. Copies in each region. More of them let more VMs install at the same time.')
@minValue(1)
@maxValue(10)
param replicasPerRegion int = 1

@description('Required. Operating systems and processors that are served.')
@minLength(1)
param targets targetType[]

@description('Required. Versions that are published.')
@minLength(1)
param versions bridgeVersionType[]

@description('Optional. Tags of the applications.')
param tags tagsType = {}

var packageFileName = 'scheduled-events-bridge.tar.gz'
var configFileName = 'config.json'
var unpack = 'tar -xzf ${packageFileName} --strip-components=1'
var remover = '/opt/scheduled-events-bridge/remove.sh'
var windowsCommands = loadJsonContent('../../infra/package/windows/commands.json')
// assumption: install-vm-application, install-vm-application-update, windows-package-vm-application
// Run by /bin/bash and by cmd.exe. None of it can be changed for a version that is published.
var commands = {
  Linux: {
    packageFileName: packageFileName
    configFileName: configFileName
    install: '${unpack} && ./install.sh ${configFileName}'
    update: '${unpack} && ./update.sh ${configFileName}'
    // If the installation was refused, or the bridge has been removed already, there is nothing to do.
    remove: 'test ! -e ${remover} || ${remover}'
  }
  Windows: {
    packageFileName: windowsCommands.packageFileName
    configFileName: windowsCommands.configFileName
    install: windowsCommands.install
    update: windowsCommands.update
    remove: windowsCommands.remove
  }
}
var published = flatten(map(
  targets,
  target =>
    map(filter(versions, version => contains(version.packages, target)), version => {
      application: indexOf(targets, target)
      name: version.name
      packageUri: version.packages[target]!
      configurationUri: version.configurationUri
      commands: commands[osTypeOf(target)]
    })
))
var targetRegions = map(union([location], regions), region => {
  name: region
  regionalReplicaCount: replicasPerRegion
  storageAccountType: 'Standard_LRS'
})

resource gallery 'Microsoft.Compute/galleries@2024-03-03' existing = {
  name: galleryName
}

resource application 'Microsoft.Compute/galleries/applications@2024-03-03' = [
  for target in targets: {
    parent: gallery
    name: 'scheduled-events-bridge-${platformName}-${shortNameOf(target)}'
    location: location
    tags: tags
    properties: {
      description: 'Scheduled Events bridge for ${shortNameOf(target)}, configured for the platform ${platformName}.'
      supportedOSType: osTypeOf(target)
    }
  }
]

// assumption: install-vm-application-config
// How a configuration reaches a VM: as the default configuration of the version, of which there is an application for each
// platform. The gallery reads it while it publishes, by its identity, and Azure brings it to the VM with the package. The
// other way, a configurationReference on each VM, is read when the VM is deployed, and there identities are not supported
// (https://learn.microsoft.com/azure/virtual-machines/vm-applications-publish-with-managed-identity#limitations): the blob
// would have to be public, or signed, and an expired signature breaks every later scale-out.
resource applicationVersion 'Microsoft.Compute/galleries/applications/versions@2024-03-03' = [
  for version in published: {
    parent: application[version.application]
    name: version.name
    location: location
    tags: tags
    properties: {
      publishingProfile: {
        source: {
          mediaLink: version.packageUri
          defaultConfigurationLink: version.configurationUri
        }
        manageActions: {
          install: version.commands.install
          update: version.commands.update
          remove: version.commands.remove
        }
        // Without names the files arrive named after the application, without extension.
        settings: {
          packageFileName: version.commands.packageFileName
          configFileName: version.commands.configFileName
          scriptBehaviorAfterReboot: 'Rerun'
        }
        targetRegions: targetRegions
        // Every VM names its version. This keeps a VM that requests latest from getting any.
        excludeFromLatest: true
      }
      safetyProfile: {
        allowDeletionOfReplicatedLocations: false
      }
    }
  }
]

@description('The applications, one for each target.')
output applications publishedApplicationType[] = [
  for (target, index) in targets: {
    target: target
    resourceId: application[index].id
  }
]
