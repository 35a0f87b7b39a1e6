// Production in one region, up to ten thousand VMs: as many partitions as Standard allows, because they cannot be added later.
// az deployment sub create --location westeurope --parameters infra/params/production.bicepparam
using '../main.bicep'

param location = 'westeurope'
param tags = {
  environment: 'production'
  owner: 'platform'
}
param shards = [
  {
    name: '1'
    location: 'westeurope'
    regions: ['westeurope', 'northeurope']
  }
]
param eventHubSize = {
  skuName: 'Standard'
  capacity: 1
  maximumThroughputUnits: 20
  partitionCount: 32
  retentionHours: 168
}
// Replace with your own: object ids of groups in Microsoft Entra ID. They read the hub, and query the tables.
param readers = [
  {
    principalId: '00000000-0000-0000-0000-000000000000'
    principalType: 'Group'
  }
]
param tableReaders = [
  {
    principalId: '00000000-0000-0000-0000-000000000000'
    principalType: 'Group'
  }
]
param alertEmails = [
  {
    name: 'operators'
    address: 'operators@example.com'
  }
]
