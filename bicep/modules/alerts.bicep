metadata name = 'Alerts'
metadata description = 'The alert rules of infra/alerts/alerts.yaml, in four kinds: one alert for each row as it arrives (SimpleLogAlert), a query at intervals (LogAlert), a metric, and an entry of the activity log.'

// Costs: each enabled rule by the month, more if it runs more often, and each time series of a split or of a metric; a metric of VMs has one for
// each VM.
// At most 100 rules of a subscription run every minute.
// A rule removed from the list stays in Azure until you delete it.

import { activityAlertType, logAlertType, metricAlertType, metricTargetType, rowAlertType } from '../alert-types.bicep'
import { tagsType } from '../types.bicep'

@description('Optional. Region of the rules over the workspace.')
param location string = resourceGroup().location

@description('Optional. Tags of the rules.')
param tags tagsType = {}

@description('Required. Prefix of the name of every rule, such as vm-lifecycle.')
@minLength(1)
@maxLength(60)
param namePrefix string

@description('Required. Resource id of the workspace.')
param workspaceResourceId string

@description('Required. Resource ids of the action groups to notify. Without any, alerts appear only in the portal.')
@maxLength(5)
param actionGroupResourceIds string[]

@description('Required. One alert for each row.')
param rowAlerts rowAlertType[]

@description('Required. Alerts by a query at intervals.')
param logAlerts logAlertType[]

@description('Required. Alerts by a metric.')
param metricAlerts metricAlertType[]

@description('Required. Alerts by the activity log.')
param activityAlerts activityAlertType[]

@description('Optional. Data collection rules that metric alerts watch.')
param dataCollectionRules metricTargetType[] = []

@description('Optional. Namespaces that metric alerts watch. Each pair of an alert and a target of its kind is a rule.')
param eventHubNamespaces metricTargetType[] = []

@description('Optional. Subscriptions and regions whose VMs metric alerts watch.')
param virtualMachines metricTargetType[] = []

var metricTargets = concat(eventHubNamespaces, dataCollectionRules, virtualMachines)
var watched = flatten(map(metricAlerts, alert =>
  // assumption: alert-metrics-of-rules
  map(filter(metricTargets, target => target.kind == alert.targetKind), target => {
    alert: alert
    target: target
  })))

resource rowRules 'Microsoft.Insights/scheduledQueryRules@2026-03-01' = [
  for alert in rowAlerts: {
    name: '${namePrefix}-${alert.name}'
    location: location
    tags: tags
    kind: 'SimpleLogAlert'
    properties: {
      displayName: '${alert.name} ${alert.displayName}'
      description: alert.onCall.meaning
      severity: alert.severity
      enabled: alert.enabled
      scopes: [workspaceResourceId]
      criteria: {
        allOf: [
          {
            query: alert.query
          }
        ]
      }
      autoMitigate: alert.autoMitigate
      // assumption: alert-rows, alert-unvalidated
      // The validation of the query does not yet know a table that was created minutes ago, so the first deployment would fail.
      skipQueryValidation: true
      actions: {
        actionGroups: actionGroupResourceIds
        customProperties: {
          meaning: alert.onCall.meaning
          urgent: alert.onCall.urgent
          firstQuery: alert.onCall.firstQuery
          whatToDo: alert.onCall.whatToDo
        }
      }
    }
  }
]

resource logRules 'Microsoft.Insights/scheduledQueryRules@2023-12-01' = [
  for alert in logAlerts: {
    name: '${namePrefix}-${alert.name}'
    location: location
    tags: tags
    kind: 'LogAlert'
    properties: {
      displayName: '${alert.name} ${alert.displayName}'
      description: alert.onCall.meaning
      severity: alert.severity
      enabled: alert.enabled
      scopes: [workspaceResourceId]
      evaluationFrequency: alert.evaluationFrequency
      windowSize: alert.windowSize
      overrideQueryTimeRange: alert.?overrideQueryTimeRange
      criteria: {
        allOf: [
          {
            query: alert.query
            timeAggregation: alert.?timeAggregation ?? 'Count'
            metricMeasureColumn: alert.?metricMeasureColumn
            // assumption: alert-on-vm
            resourceIdColumn: alert.?resourceIdColumn
            dimensions: map(alert.?dimensions ?? [], dimension => {
              name: dimension
              operator: 'Include'
              values: ['*']
            })
            operator: alert.operator
            threshold: alert.threshold
            failingPeriods: {
              numberOfEvaluationPeriods: 1
              minFailingPeriodsToAlert: 1
            }
          }
        ]
      }
      autoMitigate: alert.autoMitigate
      // The validation of the query does not yet know a table that was created minutes ago, so the first deployment would fail.
      skipQueryValidation: true
      actions: {
        actionGroups: actionGroupResourceIds
        customProperties: {
          meaning: alert.onCall.meaning
          urgent: alert.onCall.urgent
          firstQuery: alert.onCall.firstQuery
          whatToDo: alert.onCall.whatToDo
        }
      }
    }
  }
]

resource metricRules 'Microsoft.Insights/metricAlerts@2018-03-01' = [
  for pair in watched: {
    name: '${namePrefix}-${pair.alert.name}-${pair.target.name}'
    location: 'global'
    tags: tags
    properties: {
      description: '${pair.alert.displayName}: ${pair.alert.onCall.meaning}'
      severity: pair.alert.severity
      enabled: pair.alert.enabled
      scopes: [pair.target.resourceId]
      targetResourceType: pair.target.resourceType
      targetResourceRegion: pair.target.?location
      evaluationFrequency: pair.alert.evaluationFrequency
      windowSize: pair.alert.windowSize
      criteria: {
        'odata.type': 'Microsoft.Azure.Monitor.MultipleResourceMultipleMetricCriteria'
        allOf: [
          {
            criterionType: 'StaticThresholdCriterion'
            name: pair.alert.name
            metricNamespace: pair.target.resourceType
            metricName: pair.alert.metricName
            timeAggregation: pair.alert.timeAggregation
            operator: pair.alert.operator
            threshold: pair.alert.?percentOf == 'connectionLimit'
              ? pair.alert.threshold * (pair.target.?connectionLimit ?? 0) / 100
              : pair.alert.threshold
          }
        ]
      }
      autoMitigate: pair.alert.autoMitigate
      // No loop: it would hide the rules from what-if, because the ids of new action groups are known only later.
      actions: map(actionGroupResourceIds, actionGroupResourceId => {
        actionGroupId: actionGroupResourceId
        webHookProperties: {
          meaning: pair.alert.onCall.meaning
          urgent: pair.alert.onCall.urgent
          firstQuery: pair.alert.onCall.firstQuery
          whatToDo: pair.alert.onCall.whatToDo
        }
      })
    }
  }
]

resource activityRules 'Microsoft.Insights/activityLogAlerts@2020-10-01' = [
  for alert in activityAlerts: {
    name: '${namePrefix}-${alert.name}'
    location: 'global'
    tags: tags
    properties: {
      description: '${alert.displayName}: ${alert.onCall.meaning}'
      enabled: alert.enabled
      scopes: [alert.targetKind == 'alertRules' ? resourceGroup().id : workspaceResourceId]
      condition: {
        allOf: [
          {
            field: 'category'
            equals: 'Administrative'
          }
          {
            field: 'operationName'
            equals: alert.operationName
          }
          {
            field: 'status'
            equals: 'Succeeded'
          }
        ]
      }
      actions: {
        actionGroups: map(actionGroupResourceIds, actionGroupResourceId => {
          actionGroupId: actionGroupResourceId
          webhookProperties: {
            meaning: alert.onCall.meaning
            urgent: alert.onCall.urgent
            firstQuery: alert.onCall.firstQuery
            whatToDo: alert.onCall.whatToDo
          }
        })
      }
    }
  }
]

@description('Names of the rules.')
output names string[] = concat(
  map(rowAlerts, alert => '${namePrefix}-${alert.name}'),
  map(logAlerts, alert => '${namePrefix}-${alert.name}'),
  map(watched, pair => '${namePrefix}-${pair.alert.name}-${pair.target.name}'),
  map(activityAlerts, alert => '${namePrefix}-${alert.name}')
)
