metadata name = 'Alert routes'
metadata description = 'Notifies the owners of a VM about its alerts: alert processing rules that add action groups to those of the alert rules.'

// Free, except for the messages.
// Can be changed at any time. A route removed from the list stays in Azure until you delete it.
// A processing rule applies only to alerts on resources of its own subscription, so this module is deployed to each subscription with VMs.

import { alertRouteType, tagsType } from '../types.bicep'

@description('Optional. Tags of the processing rules.')
param tags tagsType = {}

@description('Required. Prefix of the name of every processing rule, such as vm-lifecycle.')
@minLength(1)
@maxLength(60)
param namePrefix string

@description('Required. Who receives which alerts.')
param routes alertRouteType[]

// assumption: alert-on-vm
resource processingRules 'Microsoft.AlertsManagement/actionRules@2021-08-08' = [
  for route in routes: {
    name: '${namePrefix}-to-${route.name}'
    location: 'Global'
    tags: tags
    properties: {
      description: 'Alerts on VMs whose tag owner is ${route.owner}.'
      enabled: true
      scopes: [subscription().id]
      conditions: [
        {
          // The value of the column Route in the queries of the alerts. The semicolon at its end distinguishes web from web-shop.
          field: 'AlertContext'
          operator: 'Contains'
          values: ['owner:${route.owner};']
        }
      ]
      actions: [
        {
          actionType: 'AddActionGroups'
          actionGroupIds: route.actionGroupResourceIds
        }
      ]
    }
  }
]

@description('Names of the processing rules.')
output names string[] = map(routes, route => '${namePrefix}-to-${route.name}')
