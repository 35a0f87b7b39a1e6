targetScope = 'resourceGroup'

metadata name = 'One VM'
metadata description = 'A Linux VM with the bridge on it, to try it out. It has no public address and no password.'

import { bridgeConfiguration, bridgeSettingsType, tagsType, userInitiatedEventsType } from '../bicep/types.bicep'

@description('Optional. Region of the VM.')
param location string = resourceGroup().location

@description('Optional. Name of the VM, and its host name.')
@minLength(1)
@maxLength(64)
param name string = 'vm-scheduled-events'

@description('Required. What the bridge must know: the output settings of infra/main.bicep.')
param settings bridgeSettingsType

@description('Required. Polling makes user-initiated restarts and redeploys wait for their notice. acceptDelay: they wait. bridgeApproves: the bridge approves them as soon as it has recorded them; with delivery application that is up to the configuration of the version. platformApproves: Azure approves them, by the scheduledEventsPolicy of the VM.')
param userInitiatedEvents userInitiatedEventsType

@description('Required. How the bridge gets onto the VM. script: the Custom Script extension, with the configuration made from the settings. application: a published version of the VM application, with the configuration that it was published with.')
param delivery 'script' | 'application'

@description('Required. With delivery script, the blob address of the package, which the identity of the settings may read: Storage Blob Data Reader on its container. With delivery application, the resource id of a version of the VM application that infra/fleet.bicep publishes, never latest.')
param source string

@description('Required. Subnet of the VM, which exists. From it the VM has to reach Event Hubs and Azure Monitor.')
param subnetResourceId string

@description('Required. Public key for SSH.')
param sshPublicKey string

@description('Optional. Name of the administrator.')
param adminUsername string = 'azureuser'

@description('Optional. Size of the VM. Its processor has to be the one of the package.')
param size string = 'Standard_B2s_v2'

@description('Optional. Image of the VM: one with systemd and glibc 2.28 or newer.')
param image imageType = {
  publisher: 'Canonical'
  offer: 'ubuntu-24_04-lts'
  sku: 'server'
  version: 'latest'
}

@description('Optional. Minutes of notice, 5 to 15, before the VM is deleted; 0 gives none. Every deletion then takes that much longer, unless the event is approved, and the VM is charged for that time.')
@allowed([0, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
param terminateNoticeMinutes int = 0

@description('Optional. Whether there are 15 minutes of notice before the operating system is reimaged or upgraded as a whole. Every such operation then takes 15 minutes longer, unless the event is approved. Not for sizes of the families G, M, N and H.')
param osImageNotice bool = false

@description('Optional. Tags of what is deployed.')
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
      computerName: name
      adminUsername: adminUsername
      linuxConfiguration: {
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
    }
    securityProfile: {
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
    // Left out with a script: an empty list would take away what a policy of the fleet has added.
    applicationProfile: delivery == 'application'
      ? {
          galleryApplications: [
            {
              packageReferenceId: source
              // A person waits for this deployment: it fails if the installation fails.
              treatFailureAsDeploymentFailure: true
              enableAutomaticUpgrade: false
            }
          ]
        }
      : null
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
      terminateNotificationProfile: {
        enable: terminateNoticeMinutes > 0
        // Five minutes is the least that Azure takes, also where it is off.
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
    packageUri: source
    identityClientId: settings.identityClientId
    configuration: string(bridgeConfiguration(settings, userInitiatedEvents))
    tags: tags
  }
}

@description('Name of the VM.')
output name string = virtualMachine.name

@description('Resource id of the VM.')
output resourceId string = virtualMachine.id
