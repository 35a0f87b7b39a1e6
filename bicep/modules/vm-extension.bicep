metadata name = 'VM extension'
metadata description = 'Installs the bridge on one VM that exists by the Custom Script extension. A VM has one such extension: if there is another, Azure refuses this one. For fleets use the VM application. Free of charge.'

import { tagsType } from '../types.bicep'

@description('Required. Name of the VM, which exists in this resource group.')
param virtualMachineName string

@description('Optional. Region of the VM.')
param location string = resourceGroup().location

@description('Optional. Operating system of the VM.')
param osType 'Linux' | 'Windows' = 'Linux'

@description('Required. Blob address of the package, without a signature.')
param packageUri string

@description('Required. Client id of a user-assigned identity of the VM that can read the package: Storage Blob Data Reader on its container.')
param identityClientId string

@description('Required. Configuration of the bridge, as JSON. It must not contain secrets: during installation, every user of the VM can read it in the process list. With Windows, at most 5,000 bytes: a command line is limited.')
@secure()
param configuration string

@description('Optional. Tags of the extension.')
param tags tagsType = {}

var packageFileName = last(split(packageUri, '/'))
// assumption: windows-package-custom-script
// On Windows a file keeps its path below the container: https://learn.microsoft.com/azure/virtual-machines/extensions/custom-script-windows
var packagePath = join(skip(split(packageUri, '/'), 4), '/')
var onWindows = loadJsonContent('../../infra/package/windows/commands.json').customScript

resource virtualMachine 'Microsoft.Compute/virtualMachines@2024-11-01' existing = {
  name: virtualMachineName
}

// assumption: install-custom-script
// https://learn.microsoft.com/azure/virtual-machines/extensions/custom-script-linux: on Linux the files of fileUris are in
// the working directory, named by the last part of their address. An extension runs again when its settings differ, so deploying the same
// package and configuration again does nothing. Everything is in the protected settings: the identity is read only there.
resource extension 'Microsoft.Compute/virtualMachines/extensions@2024-11-01' = {
  parent: virtualMachine
  name: 'scheduled-events-bridge'
  location: location
  tags: tags
  properties: {
    publisher: osType == 'Windows' ? 'Microsoft.Compute' : 'Microsoft.Azure.Extensions'
    type: osType == 'Windows' ? 'CustomScriptExtension' : 'CustomScript'
    typeHandlerVersion: osType == 'Windows' ? '1.10' : '2.1'
    autoUpgradeMinorVersion: true
    protectedSettings: {
      managedIdentity: {
        clientId: identityClientId
      }
      fileUris: [packageUri]
      commandToExecute: osType == 'Windows'
        ? replace(replace(onWindows, '<package>', packagePath), '<configuration>', base64(configuration))
        : 'tar -xzf \'${packageFileName}\' --strip-components=1 && echo ${base64(configuration)} | base64 -d > config.json && ./install.sh config.json && rm -f node'
    }
  }
}

@description('Name of the extension.')
output name string = extension.name

@description('Resource id of the extension.')
output resourceId string = extension.id
