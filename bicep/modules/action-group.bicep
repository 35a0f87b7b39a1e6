metadata name = 'Action group'
metadata description = 'Who is notified when an alert is raised.'

// Costs: almost nothing for e-mail, a little for each call of an address.
// At most 100 e-mails an hour go to one address.
// Can be changed at any time.

import { emailReceiverType, tagsType } from '../types.bicep'

@description('Required. Name of the action group.')
@minLength(1)
@maxLength(260)
param name string

@description('Optional. Name shown in front of every message.')
@minLength(1)
@maxLength(12)
param shortName string = 'VM lifecycle'

@description('Optional. Tags of the action group.')
param tags tagsType = {}

@description('Optional. Who gets an e-mail.')
param emails emailReceiverType[] = []

@description('Optional. Address of an on-call service, called with the common alert schema. Such addresses contain a key, so it is a secret.')
@secure()
param onCallAddress string?

resource actionGroup 'Microsoft.Insights/actionGroups@2023-01-01' = {
  name: name
  location: 'global'
  tags: tags
  properties: {
    groupShortName: shortName
    enabled: true
    emailReceivers: [
      for email in emails: {
        name: email.name
        emailAddress: email.address
        useCommonAlertSchema: true
      }
    ]
    webhookReceivers: empty(onCallAddress)
      ? []
      : [
          {
            name: 'on-call'
            serviceUri: onCallAddress!
            useCommonAlertSchema: true
          }
        ]
  }
}

@description('Name of the action group.')
output name string = actionGroup.name

@description('Resource id of the action group.')
output resourceId string = actionGroup.id
