import { expect, test } from 'vitest';
import { check } from './check.ts';
import { textOf } from './files.ts';
import { createProject } from './project.ts';
import { createSecondReader } from './second-reader.ts';

const reader = await createSecondReader();

/** One change in one of our files: the checks that guard it find it. */
const faults: readonly {
  readonly name: string;
  readonly file: string;
  readonly from: RegExp;
  readonly to: string;
  readonly findings: string;
  /** The file in which it is seen, where that is another one. */
  readonly in?: string;
}[] = [
  {
    name: 'keys are let in at the hub',
    file: 'bicep/modules/event-hub.bicep',
    from: /disableLocalAuth: true/,
    to: 'disableLocalAuth: false',
    findings: 'properties.disableLocalAuth must be true',
  },
  {
    name: 'an operating system that Azure does not know',
    file: 'bicep/fleet-types.bicep',
    from: /filter\(\['Linux', 'Windows'\]/,
    to: "filter(['Linux', 'Window']",
    findings: "'Window' is not one of 'Linux', 'Windows' (did you mean Windows?)",
  },
  {
    name: 'a table is made by an old version',
    file: 'bicep/modules/tables.bicep',
    from: /workspaces\/tables@[\d-]+/,
    to: 'workspaces/tables@2020-08-01',
    findings: 'Microsoft.OperationalInsights/workspaces/tables@2020-08-01',
  },
  {
    name: 'a workspace is both made and there',
    file: 'bicep/modules/log-analytics.bicep',
    from: /existing = if \(exists\)/,
    to: 'existing = if (name != resourceGroup().name)',
    findings: 'present and created are the same resource, and can both be there',
  },
  {
    name: 'bridges own the hub',
    file: 'bicep/modules/role-assignments.bicep',
    from: /2b629674-e913-4c01-ae53-ef4638d8f975/,
    to: 'f526a384-b230-433a-b45c-95f59c4a2dec',
    findings: 'f526a384-b230-433a-b45c-95f59c4a2dec is not in the table of roles',
  },
  {
    name: 'the rule waits for no table',
    file: 'infra/main.bicep',
    from: /(module rules [\s\S]*?)dependsOn: \[tables\]/,
    to: '$1',
    findings: 'rules makes a data collection rule and waits for no table',
  },
  {
    name: 'an output of the rule is misspelt',
    file: 'infra/main.bicep',
    from: /outputs\.ruleId/,
    to: 'outputs.ruleID',
    findings:
      'there is no property ruleID in the outputs of bicep/modules/data-collection-rule.bicep (did you mean ruleId?)',
  },
  {
    name: 'a setting that a bridge must know is left out',
    file: 'infra/main.bicep',
    from: /^ +heartbeatStreamName: .*\n/m,
    to: '',
    findings: 'heartbeatStreamName is required and missing',
  },
  {
    name: 'a parameter that main does not have',
    file: 'infra/params/small.bicepparam',
    from: /^param /m,
    to: 'param retentionWeeks = 4\nparam ',
    findings: '../main.bicep has no parameter retentionWeeks',
  },
  {
    name: 'no approver of user-initiated events is chosen',
    file: 'infra/params/fleet.bicepparam',
    from: /^param userInitiatedEvents.*\n/m,
    to: '',
    findings: 'userInitiatedEvents is required by ../fleet.bicep and missing',
  },
  {
    name: 'a workbook is larger than Bicep loads',
    file: 'infra/workbooks/fleet.workbook',
    from: /^/,
    to: ' '.repeat(131_072),
    findings: 'loadTextContent() takes 131072',
    in: 'infra/content.bicep',
  },
  {
    name: 'a policy escapes a bracket itself',
    file: 'infra/policy/identity-virtual-machine.json',
    from: /"\[/,
    to: '"[[',
    findings: 'one bracket, Bicep writes the second',
    in: 'infra/fleet.bicep',
  },
  {
    name: 'a policy requests the rights of an owner',
    file: 'infra/policy/identity-virtual-machine.json',
    from: /roleDefinitions\/[0-9a-f-]{36}/,
    to: 'roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
    findings: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635 is not in the table of roles',
    in: 'infra/fleet.bicep',
  },
  // What the compiler of Bicep refuses or warns of.
  {
    name: 'a role is named after an identity that the deployment makes',
    file: 'bicep/modules/health-events.bicep',
    from: /guid\(namespace::hub\.id, topic\.id,/,
    to: 'guid(namespace::hub.id, topic.identity.principalId,',
    findings: 'the name of sendToHub is known only with topic.identity, which the deployment makes [BCP120]',
  },
  {
    name: 'two modules need each other',
    file: 'infra/main.bicep',
    from: /(retentionDays: retentionDays\n +totalRetentionDays: totalRetentionDays\n +\}\n +dependsOn: )\[workspace\]/,
    to: '$1[content]',
    findings: 'a cycle: tables needs content needs tables [BCP080]',
  },
  {
    name: 'an identity is deployed to a subscription',
    file: 'bicep/modules/identity.bicep',
    from: /^/,
    to: "targetScope = 'subscription'\n",
    findings:
      'identity is deployed to a scope of kind subscription, and Microsoft.ManagedIdentity/userAssignedIdentities only to resourceGroup [BCP135]',
  },
  {
    name: 'every private endpoint has the same name',
    file: 'bicep/modules/private-link.bicep',
    from: /name: 'pe-\$\{last\(split\(namespaceResourceId, '\/'\)\)\}'/,
    to: "name: 'pe-event-hubs'",
    findings: 'each eventHubsEndpoints has the same name: namespaceResourceId is in none of them [BCP179]',
  },

  // What a service of Azure refuses.
  {
    name: 'an alert by metric is put into a region',
    file: 'bicep/modules/alerts.bicep',
    from: /location: 'global'/,
    to: 'location: location',
    findings: 'metricRules: location must be global',
  },
  {
    name: 'a private link scope is put into a region',
    file: 'bicep/modules/private-link-scope.bicep',
    from: /location: 'global'/,
    to: 'location: resourceGroup().location',
    findings: 'scope: location must be global',
  },
  {
    name: 'a category of logs does not exist',
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /category: 'LogErrors'/,
    to: "category: 'Errors'",
    findings: 'publicErrorLog: properties.logs[].category must be one of LogErrors',
  },
  {
    name: 'a private endpoint names another part of the service',
    file: 'bicep/modules/private-link.bicep',
    from: /groupIds: \['namespace'\]/,
    to: "groupIds: ['eventhub']",
    findings: 'groupIds[] must be one of namespace',
  },
  {
    name: 'a flow goes to a destination that is not declared',
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /destinations: \[destination\]/,
    to: "destinations: ['logs']",
    findings: 'publicRule: properties.dataFlows[].destinations[] must be one of workspace',
  },
  {
    name: 'the name of an assignment is too long for a management group',
    file: 'bicep/modules/policy-assignment.bicep',
    from: /name: 'seb-\$\{platformName\}'/,
    to: `name: 'scheduled-events-bridge-\${platformName}'`,
    findings: 'assignment: name has 24 characters at most',
  },
  {
    name: 'a remediation of a management group evaluates again',
    file: 'bicep/modules/remediation.bicep',
    from: /'ExistingNonCompliant'/,
    to: "'ReEvaluateCompliance'",
    findings: 'remediation: properties.resourceDiscoveryMode cannot be ReEvaluateCompliance',
  },
  {
    name: 'a version is no release',
    file: 'infra/params/fleet.bicepparam',
    from: /name: '1\.0\.0'/,
    to: "name: '1.0.0-rc1'",
    findings: 'applicationVersion: name must match',
  },
  {
    name: 'rows are kept for a shorter time than they can be queried',
    file: 'infra/params/small.bicepparam',
    from: /^param /m,
    to: 'param retentionDays = 400\nparam ',
    findings: 'tables: properties.totalRetentionInDays must be 400 at least',
  },
  {
    name: 'a namespace of Premium inflates itself',
    file: 'infra/params/production.bicepparam',
    from: /skuName: 'Standard'/,
    to: "skuName: 'Premium'",
    findings: 'namespace: properties.isAutoInflateEnabled cannot be true',
  },
  {
    name: 'files of the capture have no partition in their names',
    file: 'bicep/modules/event-hub.bicep',
    from: /\/\{PartitionId\}'/,
    to: "'",
    findings: 'archiveNameFormat must contain {PartitionId}',
  },
  {
    name: 'a condition of a role has an old version',
    file: 'bicep/modules/table-readers.bicep',
    from: /conditionVersion: '2\.0'/,
    to: "conditionVersion: '1.0'",
    findings: 'assignments: properties.conditionVersion must be 2.0',
  },
  {
    name: 'a type of topic is misspelt',
    file: 'bicep/modules/health-events.bicep',
    from: /resourcenotifications\.healthresources/,
    to: 'resourcenotifications.healthresource',
    findings: 'topic: properties.topicType must be one of',
  },
  {
    name: 'an initiative leaves a parameter of a policy out',
    file: 'bicep/modules/policy-assignment.bicep',
    from: / +version: \{ value: ring\.version \}\n/,
    to: '',
    findings: 'canary-inject-virtual-machine-x64 lacks version [policy-set]',
    in: 'infra/params/fleet.bicepparam',
  },
];

test.for(faults)('a fault in our own files is found when $name', ({ file, from, to, findings, in: seenIn = file }) => {
  const text = textOf(file) ?? '';
  const changed = text.replace(from, to);
  expect(changed, `${file} has nothing that ${from} finds: plant the fault elsewhere`).not.toBe(text);
  const project = createProject((path) => (path === file ? changed : textOf(path)), null);
  expect(check(project, reader, [seenIn]).join('\n')).toContain(findings);
});
