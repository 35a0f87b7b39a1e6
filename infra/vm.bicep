targetScope = 'resourceGroup'

metadata name = 'One VM'
metadata description = 'A VM with the bridge on it, with Linux or Windows, to try it out. It has no public address; with Linux it has no password.'

import { bridgeConfiguration, bridgeSettingsType, tagsType, userInitiatedEventsType } from '../bicep/types.bicep'

@description('Optional. Region of the VM.')
param location string = resourceGroup().location

@description('Optional. Operating system of the VM.')
param osType 'Linux' | 'Windows' = 'Linux'

@description('Optional. Name of the VM, and its host name, of which Windows keeps 15 characters.')
@minLength(1)
@maxLength(64)
param name string = 'vm-scheduled-events'

@description('Required. Settings of the bridge: the output settings of infra/main.bicep.')
param settings bridgeSettingsType

@description('Required. Polling makes user-initiated restarts and redeploys wait for their notice. acceptDelay: they wait. bridgeApproves: the bridge approves them as soon as it has recorded them; with delivery application, the configuration of the version decides this instead. platformApproves: Azure approves them, by the scheduledEventsPolicy of the VM.')
param userInitiatedEvents userInitiatedEventsType

@description('Required. How the bridge is installed on the VM. script: the Custom Script extension, with the configuration made from the settings. application: a published version of the VM application, with the configuration that it was published with.')
param delivery 'script' | 'application'

@description('Required. With delivery script, the blob address of the package, which the identity in settings must be able to read: Storage Blob Data Reader on its container. With delivery application, the resource id of a version of the VM application that infra/fleet.bicep publishes, never latest.')
param source string

@description('Required. Existing subnet for the VM, from which it can reach Event Hubs and Azure Monitor.')
param subnetResourceId string

@description('Conditional. Public key for SSH. Required with Linux.')
param sshPublicKey string = ''

@description('Conditional. Password of the administrator, 12 to 123 characters. Required with Windows.')
@secure()
param adminPassword string = ''

@description('Optional. Name of the administrator.')
param adminUsername string = 'azureuser'

@description('Optional. Size of the VM. Its processor must match the package.')
param size string = 'Standard_B2s_v2'

@description('Optional. Image of the VM: one with systemd and glibc 2.28 or newer, or Windows Server 2016, Windows 10 or newer.')
param image imageType = osType == 'Windows'
  ? {
      publisher: 'MicrosoftWindowsServer'
      offer: 'WindowsServer'
      sku: '2025-datacenter-azure-edition'
      version: 'latest'
    }
  : {
      publisher: 'Canonical'
      offer: 'ubuntu-24_04-lts'
      sku: 'server'
      version: 'latest'
    }

@description('Optional. Minutes of notice, 5 to 15, before the VM is deleted; 0: no notice. Every deletion then takes that much longer, unless the event is approved, and the VM is charged for that time.')
@allowed([0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
param terminateNoticeMinutes int = 0

@description('Optional. Whether there are 15 minutes of notice before a reimage or upgrade of the whole operating system. Every such operation then takes 15 minutes longer, unless the event is approved. Not for sizes of the families G, M, N and H.')
param osImageNotice bool = false

@description('Optional. Tags of the resources.')
param tags tagsType = {}

@description('An image of the marketplace.')
type imageType = {
  @description('Required. Publisher of the image.')
  publisher: string

  @description('Required. Offer of the publisher.')
  offer: string

  @description('Required. Variant of the offer.')
  sku: string

  @description('Required. Version of the image, or latest.')
  version: string
}

resource virtualMachine 'Microsoft.Compute/virtualMachines@2024-11-01' = {
  name: name
  location: location
  tags: tags
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${settings.identityResourceId}': {}
    }
  }
  properties: {
    hardwareProfile: {
      vmSize: size
    }
    storageProfile: {
      imageReference: image
      osDisk: {
        createOption: 'FromImage'
        deleteOption: 'Delete'
        managedDisk: {
          storageAccountType: 'StandardSSD_LRS'
        }
      }
    }
    osProfile: {
      computerName: osType == 'Windows' ? take(name, 15) : name
      adminUsername: adminUsername
      adminPassword: osType == 'Windows' ? adminPassword : null
      linuxConfiguration: osType == 'Linux'
        ? {
            disablePasswordAuthentication: true
            ssh: {
              publicKeys: [
                {
                  path: '/home/${adminUsername}/.ssh/authorized_keys'
                  keyData: sshPublicKey
                }
              ]
            }
          }
        : null
      windowsConfiguration: osType == 'Windows'
        ? {
            provisionVMAgent: true
            enableAutomaticUpdates: true
            patchSettings: {
              // The only mode that every image has.
              patchMode: 'AutomaticByOS'
            }
          }
        : null
    }
    securityProfile: {
      // assumption: deploy-vm
      securityType: 'TrustedLaunch'
      uefiSettings: {
        secureBootEnabled: true
        vTpmEnabled: true
      }
    }
    networkProfile: {
      networkApiVersion: '2022-11-01'
      networkInterfaceConfigurations: [
        {
          name: 'nic-${name}'
          properties: {
            primary: true
            deleteOption: 'Delete'
            ipConfigurations: [
              {
                name: 'default'
                properties: {
                  primary: true
                  subnet: {
                    id: subnetResourceId
                  }
                }
              }
            ]
          }
        }
      ]
    }
    diagnosticsProfile: {
      bootDiagnostics: {
        enabled: true
      }
    }
    // Omitted with delivery script: an empty list would remove applications that a policy of the fleet has added.
    applicationProfile: delivery == 'application'
      ? {
          galleryApplications: [
            {
              packageReferenceId: source
              // The deployment fails if the installation fails, because a person waits for it.
              treatFailureAsDeploymentFailure: true
              enableAutomaticUpgrade: false
            }
          ]
        }
      : null
    // assumption: imds-scheduled-events-policy
    // https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
    scheduledEventsPolicy: userInitiatedEvents == 'platformApproves'
      ? {
          userInitiatedReboot: {
            automaticallyApprove: true
          }
          userInitiatedRedeploy: {
            automaticallyApprove: true
          }
        }
      : null
    scheduledEventsProfile: {
      // assumption: imds-terminate
      terminateNotificationProfile: {
        enable: terminateNoticeMinutes > 0
        // Five minutes is Azure's minimum, even if the notice is off.
        notBeforeTimeout: 'PT${max(terminateNoticeMinutes, 5)}M'
      }
      osImageNotificationProfile: {
        enable: osImageNotice
        notBeforeTimeout: 'PT15M'
      }
    }
  }
}

module extension '../bicep/modules/vm-extension.bicep' = if (delivery == 'script') {
  params: {
    virtualMachineName: virtualMachine.name
    location: location
    osType: osType
    packageUri: source
    identityClientId: settings.identityClientId
    configuration: string(bridgeConfiguration(settings, userInitiatedEvents, 1))
    tags: tags
  }
}

@description('Name of the VM.')
output name string = virtualMachine.name

@description('Resource id of the VM.')
output resourceId string = virtualMachine.id
