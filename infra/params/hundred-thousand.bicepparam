// 100,000 VMs in one geography, on three shards. A namespace accepts 5,000 connections, and a bridge holds one only while it
// sends and around the start of an event; a rule accepts 12,000 requests a minute. When Azure updates a region and a tenth of all
// VMs get an event within a minute, that is 10,000 connections and 11,667 requests: two shards are enough, a third is a reserve.
// Tell fleet.bicep the number of VMs of each: above 4,000 the bridges spread their connections. infra/performance.md has simulations.
// Distribute the regions evenly over the shards. A region that alone has more than 50,000 VMs needs Premium.
// az deployment sub create --location westeurope --parameters infra/params/hundred-thousand.bicepparam
using '../main.bicep'

param location = 'westeurope'
param tags = {
  environment: 'production'
  owner: 'platform'
}
param shards = [
  {
    name: 'weu'
    location: 'westeurope'
    regions: ['westeurope', 'uksouth']
  }
  {
    name: 'neu'
    location: 'northeurope'
    regions: ['northeurope', 'swedencentral', 'norwayeast']
  }
  {
    name: 'gwc'
    location: 'germanywestcentral'
    regions: ['germanywestcentral', 'francecentral', 'switzerlandnorth', 'italynorth']
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
