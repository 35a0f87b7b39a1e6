metadata name = 'Alert routes'
metadata description = 'Tells those who own a VM of the alerts about it: alert processing rules, which add action groups to what the rules themselves tell.'

// Costs: nothing but the messages.
// Can be changed at any time. A route taken out of the list stays until it is deleted by hand.
// A processing rule sees the alerts on resources of its own subscription only: where VMs stand in others, this is deployed in each.

import { alertRouteType, tagsType } from '../types.bicep'

@description('Optional. Tags of the processing rules.')
param tags tagsType = {}

@description('Required. Start of the name of every processing rule, as vm-lifecycle.')
@minLength(1)
@maxLength(60)
param namePrefix string

@description('Required. Who is told of what.')
param routes alertRouteType[]

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
          // What the column Route of the alerts' queries holds: the mark at its end keeps web apart from web-shop.
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
