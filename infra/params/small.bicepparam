// A first fleet, up to a few thousand VMs of one region: the least that works, and is safe to keep.
// az deployment sub create --location westeurope --parameters infra/params/small.bicepparam
using '../main.bicep'

param location = 'westeurope'
param alertEmails = [
  {
    name: 'operators'
    address: 'operators@example.com'
  }
]
