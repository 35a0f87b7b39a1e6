using '../vm.bicep'

// The output settings of infra/main.bicep: az deployment sub show --name … --query properties.outputs.settings.value
param settings = {
  fullyQualifiedNamespace: 'evhns-vm-lifecycle.servicebus.windows.net'
  eventHubName: 'vm-lifecycle'
  logsIngestionEndpoint: 'https://dcr-vm-lifecycle.westeurope-1.ingest.monitor.azure.com'
  ruleId: 'dcr-00000000000000000000000000000000'
  streamName: 'Custom-VmLifecycle_CL'
  heartbeatStreamName: 'Custom-VmLifecycleBridge_CL'
  identityClientId: '00000000-0000-0000-0000-000000000000'
  identityResourceId: '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-vm-lifecycle/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-vm-lifecycle'
}

// Restarts that you request take effect at once. infra/vm.bicep describes the other two choices.
param userInitiatedEvents = 'platformApproves'

param osType = 'Windows'
param name = 'vm-events-win'
param delivery = 'script'
param source = 'https://examplepackages.blob.core.windows.net/packages/scheduled-events-bridge-1.0.0-win-x64.zip'

param subnetResourceId = '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-network/providers/Microsoft.Network/virtualNetworks/vnet-example/subnets/default'
param adminPassword = readEnvironmentVariable('ADMIN_PASSWORD', '')
