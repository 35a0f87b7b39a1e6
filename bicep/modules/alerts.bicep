metadata name = 'Alerts'
metadata description = 'The alert rules of infra/alerts/alerts.yaml, in four kinds: one alert for each row as it arrives (SimpleLogAlert), a query at intervals (LogAlert), a metric, and an entry of the activity log.'

// Costs: each enabled rule by the month, more the more often it runs, and each time series of a split or of a metric: a metric of VMs is one for
// each VM.
// At most 100 rules of a subscription run every minute.
// A rule taken out of the list stays until it is deleted by hand.

import { tagsType } from '../types.bicep'

@export()
@description('What the person on call reads at three in the morning. It goes out with the alert.')
type onCallType = {
  @description('Required. What has happened or will happen, in a sentence.')
  meaning: string

  @description('Required. Whether it can wait, and until when.')
  urgent: string

  @description('Required. Name of the query of the query pack to open first.')
  firstQuery: string

  @description('Required. What to do, in a sentence or two.')
  whatToDo: string
}

@export()
@description('An alert for each row, minutes after it arrives: the kind SimpleLogAlert. Its query may only use what looks at one row.')
type rowAlertType = {
  @description('Required. Short name, such as A1: stable, part of the name of the rule.')
  name: string

  @description('Required. Name that the person on call reads.')
  displayName: string

  @description('Required. Whether it is on when deployed.')
  enabled: bool

  @description('Required. 0 critical, 1 error, 2 warning, 3 informational, 4 verbose.')
  @minValue(0)
  @maxValue(4)
  severity: int

  @description('Required. Text of the query.')
  query: string

  @description('Required. Whether the alert ends by itself.')
  autoMitigate: bool

  @description('Required. What the person on call reads.')
  onCall: onCallType
}

@export()
@description('An alert over rows of the workspace, evaluated at intervals: the kind LogAlert.')
type logAlertType = {
  @description('Required. Short name, such as A1: stable, part of the name of the rule.')
  name: string

  @description('Required. Name that the person on call reads.')
  displayName: string

  @description('Required. Whether it is on when deployed.')
  enabled: bool

  @description('Required. 0 critical, 1 error, 2 warning, 3 informational, 4 verbose.')
  @minValue(0)
  @maxValue(4)
  severity: int

  @description('Required. Text of the query.')
  query: string

  @description('Required. How often it runs. A rule that runs every minute counts against the 100 of a subscription, and costs most.')
  evaluationFrequency: 'PT1M' | 'PT5M' | 'PT10M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'P1D'

  @description('Required. How far back TimeGenerated may lie.')
  windowSize: 'PT1M' | 'PT5M' | 'PT10M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'P1D'

  @description('Optional. How far back the query itself may look, where it is further than the window.')
  overrideQueryTimeRange: ('PT5M' | 'PT10M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'P1D' | 'P2D')?

  @description('Optional. Number column that is measured. Without it rows are counted.')
  metricMeasureColumn: string?

  @description('Optional. How the measured column becomes one number. Default: Count.')
  timeAggregation: ('Count' | 'Average' | 'Minimum' | 'Maximum' | 'Total')?

  @description('Optional. Column that holds the resource id on which the alert is raised. Default: the workspace.')
  resourceIdColumn: string?

  @description('Optional. Columns that split the alert: one for each set of their values. At most six.')
  @maxLength(6)
  dimensions: string[]?

  @description('Required. How the number is compared.')
  operator: 'Equals' | 'GreaterThan' | 'GreaterThanOrEqual' | 'LessThan' | 'LessThanOrEqual'

  @description('Required. What it is compared with.')
  threshold: int

  @description('Required. Whether the alert ends by itself when its condition no longer holds.')
  autoMitigate: bool

  @description('Required. What the person on call reads.')
  onCall: onCallType
}

@export()
@description('An alert by the activity log: raised whatever happens to the data. Free of charge; Azure gives each severity 4.')
type activityAlertType = {
  @description('Required. Short name, such as A19: stable, part of the name of the rule.')
  name: string

  @description('Required. Name that the person on call reads.')
  displayName: string

  @description('Required. Whether it is on when deployed.')
  enabled: bool

  @description('Required. What Azure gives it: 4 verbose.')
  severity: 4

  @description('Required. What it watches.')
  targetKind: 'workspace'

  @description('Required. Name of the operation, as the activity log has it.')
  operationName: string

  @description('Required. Such an alert never ends by itself.')
  autoMitigate: false

  @description('Required. What the person on call reads.')
  onCall: onCallType
}

@export()
@description('What an alert by metric watches.')
type metricTargetKindType = 'eventHubNamespace' | 'dataCollectionRule' | 'virtualMachines'

@export()
@description('An alert by a metric that Azure measures itself: raised whether or not any record arrives.')
type metricAlertType = {
  @description('Required. Short name, such as A9: stable, part of the name of the rule.')
  name: string

  @description('Required. Name that the person on call reads.')
  displayName: string

  @description('Required. Whether it is on when deployed.')
  enabled: bool

  @description('Required. 0 critical, 1 error, 2 warning, 3 informational, 4 verbose.')
  @minValue(0)
  @maxValue(4)
  severity: int

  @description('Required. What it watches.')
  targetKind: metricTargetKindType

  @description('Required. Name of the metric, as Azure spells it.')
  metricName: string

  @description('Required. How the values of the window become one number.')
  timeAggregation: 'Average' | 'Count' | 'Maximum' | 'Minimum' | 'Total'

  @description('Required. How often it looks.')
  evaluationFrequency: 'PT1M' | 'PT5M' | 'PT15M' | 'PT30M' | 'PT1H'

  @description('Required. Over which time.')
  windowSize: 'PT1M' | 'PT5M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'PT12H' | 'P1D'

  @description('Required. How the number is compared.')
  operator: 'Equals' | 'GreaterThan' | 'GreaterThanOrEqual' | 'LessThan' | 'LessThanOrEqual'

  @description('Required. What it is compared with.')
  threshold: int

  @description('Optional. What the threshold is a percentage of. Default: nothing, it is a number of the metric.')
  percentOf: 'connectionLimit'?

  @description('Required. Whether the alert ends by itself when its condition no longer holds.')
  autoMitigate: bool

  @description('Required. What the person on call reads.')
  onCall: onCallType
}

@export()
@description('Something that alerts by metric watch: one namespace, one data collection rule, or the VMs of a subscription in a region.')
type metricTargetType = {
  @description('Required. Part of the name of the rule.')
  name: string

  @description('Required. What it is.')
  kind: metricTargetKindType

  @description('Required. Resource id of the namespace, of the rule, or of the subscription.')
  resourceId: string

  @description('Required. Type of the resources that are measured.')
  resourceType: 'Microsoft.EventHub/namespaces' | 'Microsoft.Insights/dataCollectionRules' | 'Microsoft.Compute/virtualMachines'

  @description('Conditional. Region of what is measured: of a namespace, and of the VMs of a subscription.')
  location: string?

  @description('Conditional. Connections that it takes at once: of a namespace.')
  connectionLimit: int?
}

@description('Optional. Region of the rules over the workspace.')
param location string = resourceGroup().location

@description('Optional. Tags of the rules.')
param tags tagsType = {}

@description('Required. Start of the name of every rule, as vm-lifecycle.')
@minLength(1)
@maxLength(60)
param namePrefix string

@description('Required. Resource id of the workspace.')
param workspaceResourceId string

@description('Required. Resource ids of the action groups that are told. With none the alerts stand in the portal only.')
@maxLength(5)
param actionGroupResourceIds string[]

@description('Required. One alert for each row.')
param rowAlerts rowAlertType[]

@description('Required. Alerts by a query at intervals.')
param logAlerts logAlertType[]

@description('Required. Alerts by a metric.')
param metricAlerts metricAlertType[]

@description('Required. Alerts by the activity log of the workspace.')
param activityAlerts activityAlertType[]

@description('Optional. Data collection rules that alerts by metric watch.')
param dataCollectionRules metricTargetType[] = []

@description('Optional. Namespaces that alerts by metric watch. Each pair of an alert and a target of its kind is a rule.')
param eventHubNamespaces metricTargetType[] = []

@description('Optional. Subscriptions and regions whose VMs alerts by metric watch.')
param virtualMachines metricTargetType[] = []

var metricTargets = concat(eventHubNamespaces, dataCollectionRules, virtualMachines)
var watched = flatten(map(metricAlerts, alert =>
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
      // A table made minutes ago is not yet known to the check, which would fail the first deployment.
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
      // A table made minutes ago is not yet known to the check, which would fail the first deployment.
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
      // No loop: it would hide the rules from what-if, since the ids of new action groups are known only later.
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
      scopes: [workspaceResourceId]
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
