// A network without outbound access: Event Hubs and the rules are reached through private endpoints only. The network already
// has a private link scope for Azure Monitor and DNS zones: the deployment joins the scope and uses the zones.
// The portal can still query the workspace from anywhere, with rights on it.
// az deployment sub create --location westeurope --parameters infra/params/private-link.bicepparam
using '../main.bicep'

param location = 'westeurope'
param eventHubSize = {
  skuName: 'Standard'
  capacity: 1
  maximumThroughputUnits: 20
  partitionCount: 32
  retentionHours: 168
}
param privateLink = {
  location: 'westeurope'
  subnetResourceId: '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-network/providers/Microsoft.Network/virtualNetworks/vnet-hub/subnets/private-endpoints'
  existingScopeResourceId: '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-monitor/providers/microsoft.insights/privateLinkScopes/ampls-hub'
  createPrivateDnsZones: false
  eventHubsZoneResourceId: '/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg-dns/providers/Microsoft.Network/privateDnsZones/privatelink.servicebus.windows.net'
}
param alertEmails = [
  {
    name: 'operators'
    address: 'operators@example.com'
  }
]
