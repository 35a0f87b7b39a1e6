using '../fleet.bicep'

// Must exist before, with the identity, which needs Storage Blob Data Contributor on the storage account of the packages.
param gallery = {
  subscriptionId: '00000000-0000-0000-0000-000000000000'
  resourceGroupName: 'rg-vm-applications'
  name: 'gal_vm_applications'
  region: 'westeurope'
  publisherIdentityResourceId: '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-vm-applications/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-gallery-publisher'
}

param platforms = [
  {
    name: 'europe'
    regions: ['westeurope', 'northeurope']
    // The output settings of infra/main.bicep.
    settings: {
      fullyQualifiedNamespace: 'evhns-vm-lifecycle.servicebus.windows.net'
      eventHubName: 'vm-lifecycle'
      logsIngestionEndpoint: 'https://dcr-vm-lifecycle.westeurope-1.ingest.monitor.azure.com'
      ruleId: 'dcr-00000000000000000000000000000000'
      streamName: 'Custom-VmLifecycle_CL'
      heartbeatStreamName: 'Custom-VmLifecycleBridge_CL'
      identityClientId: '00000000-0000-0000-0000-000000000000'
      identityResourceId: '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-vm-lifecycle/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-vm-lifecycle'
    }
    // The most that these regions will have. Above 4,000, deploy again and use the new config.json; above 9,600, see the output platformsToDivide.
    vms: 3000
    targets: ['linux-x64', 'linux-arm64', 'win-x64']
    versions: [
      {
        name: '1.0.0'
        packages: {
          'linux-x64': 'https://examplepackages.blob.core.windows.net/packages/scheduled-events-bridge-1.0.0-linux-x64.tar.gz'
          'linux-arm64': 'https://examplepackages.blob.core.windows.net/packages/scheduled-events-bridge-1.0.0-linux-arm64.tar.gz'
          'win-x64': 'https://examplepackages.blob.core.windows.net/packages/scheduled-events-bridge-1.0.0-win-x64.zip'
        }
        configurationUri: 'https://examplepackages.blob.core.windows.net/configurations/europe-1.0.0.json'
      }
    ]
    rings: [
      { name: 'canary', version: '1.0.0', untagged: false }
      { name: 'early', version: '1.0.0', untagged: false }
      { name: 'everyone', version: '1.0.0', untagged: true }
    ]
  }
]

// infra/fleet.bicep describes the choices. platformApproves deploys two policies with new aliases, and a definition with an
// alias that a cloud does not know fails the whole deployment.
param userInitiatedEvents = 'acceptDelay'

// First deployment: check the compliance of the assignment. Then Default, and ring by ring in two steps: ['canary'] with identities, then applications.
param enforcementMode = 'DoNotEnforce'
param remediate = []
