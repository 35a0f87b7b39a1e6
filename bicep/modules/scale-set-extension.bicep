metadata name = 'Scale set extension'
metadata description = 'Installs the bridge on the instances of one scale set that exists by the Custom Script extension. A scale set has one such extension: if there is another, Azure refuses this one. With a manual upgrade policy, instances that exist get it when they are updated. Free of charge.'

@description('Required. Name of the scale set, which exists in this resource group.')
param scaleSetName string

@description('Optional. Operating system of the scale set.')
param osType 'Linux' | 'Windows' = 'Linux'

@description('Required. Blob address of the package, without a signature: one that expires breaks every later scale-out.')
param packageUri string

@description('Required. Client id of a user-assigned identity of the scale set that may read the package: Storage Blob Data Reader on its container.')
param identityClientId string

@description('Required. Configuration of the bridge, as JSON. It must not contain secrets: during installation, every user of the VM can read it in the process list. With Windows, at most 5,000 bytes: a command line is limited.')
@secure()
param configuration string

@description('Optional. Names of the extensions of the scale set that have to be installed before.')
param provisionAfterExtensions string[] = []

var packageFileName = last(split(packageUri, '/'))
var packagePath = join(skip(split(packageUri, '/'), 4), '/')
var onWindows = loadJsonContent('../../infra/package/windows/commands.json').customScript

resource scaleSet 'Microsoft.Compute/virtualMachineScaleSets@2024-11-01' existing = {
  name: scaleSetName
}

// assumption: install-custom-script-set, windows-package-custom-script
// The same as on a VM, see vm-extension.bicep. A new instance, and one that was reimaged, runs it from scratch.
resource extension 'Microsoft.Compute/virtualMachineScaleSets/extensions@2024-11-01' = {
  parent: scaleSet
  name: 'scheduled-events-bridge'
  properties: {
    publisher: osType == 'Windows' ? 'Microsoft.Compute' : 'Microsoft.Azure.Extensions'
    type: osType == 'Windows' ? 'CustomScriptExtension' : 'CustomScript'
    typeHandlerVersion: osType == 'Windows' ? '1.10' : '2.1'
    autoUpgradeMinorVersion: true
    provisionAfterExtensions: provisionAfterExtensions
    // Extensions that wait for this one need it to have settings.
    settings: {}
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
