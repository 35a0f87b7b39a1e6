// A first fleet, up to a few thousand VMs in one region: the smallest configuration for permanent use.
// az deployment sub create --location westeurope --parameters infra/params/small.bicepparam
using '../main.bicep'

param location = 'westeurope'
param alertEmails = [
  {
    name: 'operators'
    address: 'operators@example.com'
  }
]
