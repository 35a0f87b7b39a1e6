targetScope = 'managementGroup'

metadata name = 'Remediation'
metadata description = 'Tasks that bring existing VMs and scale sets in line with a policy assignment. A task works on what the last evaluation found, which takes up to 30 minutes after an assignment was made or changed. Free of charge; a task that is running cannot be changed or replaced, so name only policies whose tasks have ended or never ran (https://github.com/Azure/azure-policy/issues/1234). Tasks run side by side: give it policies of one step.'

import { policyReferenceType } from '../fleet-types.bicep'

@description('Required. Resource id of the policy assignment.')
param assignmentResourceId string

@description('Required. Name of the platform, part of the names of the tasks.')
param platformName string

@description('Required. Policies of one step to remediate.')
param references policyReferenceType[]

@description('Optional. Increase it to run the same tasks again, because a task that has ended is not run again under the same name.')
@minValue(1)
param round int = 1

@description('Optional. Number of resources to change at the same time.')
@minValue(1)
@maxValue(30)
param parallelDeployments int = 10

resource remediation 'Microsoft.PolicyInsights/remediations@2024-10-01' = [
  for reference in references: {
    name: '${platformName}-${reference.id}-${reference.version}-${round}'
    properties: {
      policyAssignmentId: assignmentResourceId
      policyDefinitionReferenceId: reference.id
      // A management group cannot be evaluated again before the remediation.
      resourceDiscoveryMode: 'ExistingNonCompliant'
      resourceCount: 50000
      parallelDeployments: parallelDeployments
      // assumption: policy-failure-threshold, policy-insights-provider
      // A share from 0 to 1, although the type is an integer: the task stops when more than a tenth has failed.
      failureThreshold: {
        percentage: json('0.1')
      }
    }
  }
]

@description('Names of the tasks.')
output names string[] = [for (reference, index) in references: remediation[index].name]
