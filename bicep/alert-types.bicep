metadata name = 'Alert types'
metadata description = 'The fields of an alert in infra/alerts/alerts.yaml, by its kind, and the resources that metric alerts watch.'

@export()
@description('Text for the person on call, sent with the alert.')
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

  @description('Required. Name shown to the person on call.')
  displayName: string

  @description('Required. Whether it is on when deployed.')
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

  @description('Optional. How far back the query itself may read, if further than the window.')
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

  @description('Required. Whether the alert resolves by itself when its condition is over.')
  autoMitigate: bool

  @description('Required. Text for the person on call.')
  onCall: onCallType
}

@export()
@description('An alert on the activity log: raised whatever happens to the data. Free of charge; Azure gives each severity 4.')
type activityAlertType = {
  @description('Required. Short name, such as A19: stable, part of the name of the rule.')
  name: string

  @description('Required. Name shown to the person on call.')
  displayName: string

  @description('Required. Whether it is on when deployed.')
  enabled: bool

  @description('Required. What Azure gives it: 4 verbose.')
  severity: 4

  @description('Required. What it watches: the workspace, or the rules of the resource group in which alerts are deployed.')
  targetKind: 'workspace' | 'alertRules'

  @description('Required. Name of the operation, as the activity log has it.')
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
@description('An alert on a metric that Azure measures itself: raised whether or not any record arrives.')
type metricAlertType = {
  @description('Required. Short name, such as A9: stable, part of the name of the rule.')
  name: string

  @description('Required. Name shown to the person on call.')
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

  @description('Required. Whether the alert resolves by itself when its condition is over.')
  autoMitigate: bool

  @description('Required. Text for the person on call.')
  onCall: onCallType
}

@export()
@description('Something that metric alerts watch: one namespace, one data collection rule, or the VMs of a subscription in a region.')
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
