metadata name = 'Alert types'
metadata description = 'The fields of an alert in infra/alerts/alerts.yaml, by its kind, and the resources that metric alerts watch.'

@export()
@description('Text for the person on call, sent with the alert.')
type onCallType = {
  @description('Required. What has happened or will happen, in one sentence.')
  meaning: string

  @description('Required. Whether it can wait, and until when.')
  urgent: string

  @description('Required. Name of the query of the query pack to open first.')
  firstQuery: string

  @description('Required. What to do, in a sentence or two.')
  whatToDo: string
}

@export()
@description('An alert for each row, minutes after it arrives: the kind SimpleLogAlert. Its query may only use operators that work on one row.')
type rowAlertType = {
  @description('Required. Short name, such as A1: stable, part of the name of the rule.')
  name: string

  @description('Required. Name shown to the person on call.')
  displayName: string

  @description('Required. Whether the rule is enabled when deployed.')
  enabled: bool

  @description('Required. 0 critical, 1 error, 2 warning, 3 informational, 4 verbose.')
  @minValue(0)
  @maxValue(4)
  severity: int

  @description('Required. Text of the query.')
  query: string

  @description('Required. Whether the alert resolves by itself.')
  autoMitigate: bool

  @description('Required. Text for the person on call.')
  onCall: onCallType
}

@export()
@description('An alert over rows of the workspace, evaluated at intervals: the kind LogAlert.')
type logAlertType = {
  @description('Required. Short name, such as A1: stable, part of the name of the rule.')
  name: string

  @description('Required. Name shown to the person on call.')
  displayName: string

  @description('Required. Whether the rule is enabled when deployed.')
  enabled: bool

  @description('Required. 0 critical, 1 error, 2 warning, 3 informational, 4 verbose.')
  @minValue(0)
  @maxValue(4)
  severity: int

  @description('Required. Text of the query.')
  query: string

  @description('Required. How often it runs. A rule that runs every minute counts against the 100 of a subscription, and costs most.')
  evaluationFrequency: 'PT1M' | 'PT5M' | 'PT10M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'P1D'

  @description('Required. How far back TimeGenerated may be.')
  windowSize: 'PT1M' | 'PT5M' | 'PT10M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'P1D'

  @description('Optional. How far back the query itself may read, if further than the window.')
  overrideQueryTimeRange: ('PT5M' | 'PT10M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'P1D' | 'P2D')?

  @description('Optional. Column with the number to measure. Default: the rows are counted.')
  metricMeasureColumn: string?

  @description('Optional. How the values of the column are aggregated. Default: Count.')
  timeAggregation: ('Count' | 'Average' | 'Minimum' | 'Maximum' | 'Total')?

  @description('Optional. Column that holds the resource id on which the alert is raised. Default: the workspace.')
  resourceIdColumn: string?

  @description('Optional. Columns that split the alert: one for each set of their values. At most six.')
  @maxLength(6)
  dimensions: string[]?

  @description('Required. How the number is compared with the threshold.')
  operator: 'Equals' | 'GreaterThan' | 'GreaterThanOrEqual' | 'LessThan' | 'LessThanOrEqual'

  @description('Required. Threshold.')
  threshold: int

  @description('Required. Whether the alert resolves by itself when its condition is over.')
  autoMitigate: bool

  @description('Required. Text for the person on call.')
  onCall: onCallType
}

@export()
@description('An alert on the activity log, which does not depend on records. Free of charge; Azure sets severity 4.')
type activityAlertType = {
  @description('Required. Short name, such as A19: stable, part of the name of the rule.')
  name: string

  @description('Required. Name shown to the person on call.')
  displayName: string

  @description('Required. Whether the rule is enabled when deployed.')
  enabled: bool

  @description('Required. The severity that Azure sets: 4 verbose.')
  severity: 4

  @description('Required. What it watches: the workspace, or the rules of the resource group in which alerts are deployed.')
  targetKind: 'workspace' | 'alertRules'

  @description('Required. Name of the operation, as in the activity log.')
  operationName: string

  @description('Required. Such an alert never resolves by itself.')
  autoMitigate: false

  @description('Required. Text for the person on call.')
  onCall: onCallType
}

@export()
@description('What a metric alert watches.')
type metricTargetKindType = 'eventHubNamespace' | 'dataCollectionRule' | 'virtualMachines'

@export()
@description('An alert on a metric of Azure, which does not depend on records.')
type metricAlertType = {
  @description('Required. Short name, such as A9: stable, part of the name of the rule.')
  name: string

  @description('Required. Name shown to the person on call.')
  displayName: string

  @description('Required. Whether the rule is enabled when deployed.')
  enabled: bool

  @description('Required. 0 critical, 1 error, 2 warning, 3 informational, 4 verbose.')
  @minValue(0)
  @maxValue(4)
  severity: int

  @description('Required. What it watches.')
  targetKind: metricTargetKindType

  @description('Required. Name of the metric, as Azure spells it.')
  metricName: string

  @description('Required. How the values of the window are aggregated.')
  timeAggregation: 'Average' | 'Count' | 'Maximum' | 'Minimum' | 'Total'

  @description('Required. How often the rule is evaluated.')
  evaluationFrequency: 'PT1M' | 'PT5M' | 'PT15M' | 'PT30M' | 'PT1H'

  @description('Required. Length of the window.')
  windowSize: 'PT1M' | 'PT5M' | 'PT15M' | 'PT30M' | 'PT1H' | 'PT6H' | 'PT12H' | 'P1D'

  @description('Required. How the number is compared with the threshold.')
  operator: 'Equals' | 'GreaterThan' | 'GreaterThanOrEqual' | 'LessThan' | 'LessThanOrEqual'

  @description('Required. Threshold.')
  threshold: int

  @description('Optional. What the threshold is a percentage of. Default: the threshold is a value of the metric.')
  percentOf: 'connectionLimit'?

  @description('Required. Whether the alert resolves by itself when its condition is over.')
  autoMitigate: bool

  @description('Required. Text for the person on call.')
  onCall: onCallType
}

@export()
@description('A target of metric alerts: one namespace, one data collection rule, or the VMs of a subscription in a region.')
type metricTargetType = {
  @description('Required. Part of the name of the rule.')
  name: string

  @description('Required. Its kind.')
  kind: metricTargetKindType

  @description('Required. Resource id of the namespace, of the rule, or of the subscription.')
  resourceId: string

  @description('Required. Type of the resources that are measured.')
  resourceType: 'Microsoft.EventHub/namespaces' | 'Microsoft.Insights/dataCollectionRules' | 'Microsoft.Compute/virtualMachines'

  @description('Conditional. Region of the namespace, or of the VMs of the subscription. Required for those.')
  location: string?

  @description('Conditional. Maximum number of connections of the namespace. Required for a namespace.')
  connectionLimit: int?
}
