import { expect, test } from 'vitest';
import { azureShapes, describedIn } from './azure-shapes.ts';
import { check } from './check.ts';
import { textOf } from './files.ts';
import { createProject } from './project.ts';
import { createSecondReader } from './second-reader.ts';

const reader = await createSecondReader();
const azure = azureShapes();
const diagnostics = 'https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-core-diagnostics';

/** Faults that documents and issues describe, written down before the checker was run on any of them. */
const faults: readonly {
  readonly name: string;
  readonly source: string;
  readonly file: string;
  readonly from: RegExp;
  readonly to: string;
  readonly findings: string;
  readonly in?: string;
  /** Only Azure's own descriptions say it. */
  readonly isInDescriptions?: true;
}[] = [
  {
    name: 'the default of a parameter reads a variable',
    source: `${diagnostics}#BCP072`,
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /param enableErrorLog bool = true/,
    to: 'param enableErrorLog bool = !empty(destination)',
    findings: 'BCP072',
  },
  {
    name: 'a loop over what only the deployment knows',
    source: `${diagnostics}#BCP178`,
    file: 'bicep/modules/event-hub.bicep',
    from: /for group in consumerGroups:/,
    to: "for group in split(namespace.properties.serviceBusEndpoint, '.'):",
    findings: 'BCP178',
  },
  {
    name: 'a condition on what only the deployment knows',
    source: `${diagnostics}#BCP177`,
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /= if \(!isPrivate && enableErrorLog\)/,
    to: "= if (enableErrorLog && publicRule!.properties.immutableId != '')",
    findings: 'BCP177',
  },
  {
    name: 'a collection of resources without an index',
    source: `${diagnostics}#BCP144`,
    file: 'bicep/modules/remediation.bicep',
    from: /\[for \(reference, index\) in references: remediation\[index\]\.name\]/,
    to: '[remediation.name]',
    findings: 'name is read of an array',
  },
  {
    name: 'the time of day in a variable',
    source: `${diagnostics}#BCP065`,
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /var destination = 'workspace'/,
    to: 'var destination = utcNow()',
    findings: 'utcNow() is another one at every deployment',
  },
  {
    name: 'a scope on a child of another resource',
    source: `${diagnostics}#BCP164`,
    file: 'bicep/modules/tables.bicep',
    from: /parent: workspace/,
    to: 'parent: workspace\n    scope: workspace',
    findings: 'BCP164',
  },
  {
    name: 'the name of a child says its parent again',
    source: `${diagnostics}#BCP170`,
    file: 'bicep/modules/tables.bicep',
    from: /parent: workspace\n {4}name: table\.key/,
    to: `parent: workspace\n    name: '\${workspaceName}/\${table.key}'`,
    findings: 'BCP170',
  },
  {
    name: 'a decorator twice',
    source: `${diagnostics}#BCP166`,
    file: 'bicep/modules/tables.bicep',
    from: /@minLength\(4\)/,
    to: '@minLength(4)\n@minLength(4)',
    findings: 'BCP166',
  },
  {
    name: 'the length of a number',
    source: `${diagnostics}#BCP124`,
    file: 'bicep/modules/tables.bicep',
    from: /@minValue\(4\)\n@maxValue\(730\)/,
    to: '@minLength(4)',
    findings: 'BCP124',
  },
  {
    name: 'a batch size on one resource',
    source: `${diagnostics}#BCP155`,
    file: 'bicep/modules/workbook.bicep',
    from: /^resource /m,
    to: '@batchSize(1)\nresource ',
    findings: 'BCP155',
  },
  {
    name: 'a plus between texts',
    source: `${diagnostics}#BCP045`,
    file: 'infra/optional.bicep',
    from: /'ampls-\$\{name\}'/,
    to: "'ampls-' + name",
    findings: 'BCP045',
  },
  {
    name: 'a resource in another group than that of the file',
    source: `${diagnostics}#BCP139`,
    file: 'bicep/modules/private-link-scope.bicep',
    from: /^ {2}name: name/m,
    to: "  scope: resourceGroup('rg-network')\n  name: name",
    findings: 'BCP139',
  },
  {
    name: 'a rule that resolves its alerts and mutes them',
    source: 'https://github.com/Azure/azure-powershell/issues/22583',
    file: 'bicep/modules/alerts.bicep',
    from: /failingPeriods: \{[\s\S]*?autoMitigate: alert\.autoMitigate/,
    to: "failingPeriods: {}\n          }\n        ]\n      }\n      autoMitigate: true\n      muteActionsDuration: 'PT1H'",
    findings: 'logRules: properties.autoMitigate must be false',
  },
  {
    name: 'a Standard hub that keeps records for ninety days',
    source: 'https://github.com/Azure/bicep-registry-modules/issues/5380',
    file: 'bicep/modules/event-hub.bicep',
    from: /retentionTimeInHours: size\.retentionHours/,
    to: 'retentionTimeInHours: 2160',
    findings: 'retentionTimeInHours must be 168 at most',
    in: 'infra/params/production.bicepparam',
  },
  {
    name: 'a flow of a stream that is neither custom nor one of Azure',
    source: 'https://github.com/hashicorp/terraform-provider-azurerm/issues/18481',
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /streams: \['Custom-\$\{table\.key\}'\]/,
    to: "streams: ['SomeStream']",
    findings: "'SomeStream' is not one of",
    isInDescriptions: true,
  },
  {
    name: 'a transformation that is no query',
    source: 'https://github.com/hashicorp/terraform-provider-azurerm/issues/27820',
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /transformKql: 'source'/,
    to: "transformKql: 'source | project TimeGenerated,'",
    findings: 'transformKql of Custom-VmLifecycle_CL: KS',
  },
  {
    name: 'an assignment without identity, whose initiative modifies',
    source: 'https://github.com/Azure/azure-cli/issues/13150',
    file: 'bicep/modules/policy-assignment.bicep',
    from: / {2}identity: \{\n {4}type: 'SystemAssigned'\n {2}\}\n/,
    to: '',
    findings: 'seb-europe needs identity and location',
    in: 'infra/params/fleet.bicepparam',
  },
  {
    name: 'an assignment with a parameter that its initiative does not have',
    source: 'https://github.com/Azure/Azure-Landing-Zones/issues/2756',
    file: 'bicep/modules/policy-assignment.bicep',
    from: / {4}enforcementMode: enforcementMode\n/,
    to: "    enforcementMode: enforcementMode\n    parameters: {\n      effect: { value: 'deny' }\n    }\n",
    findings: 'seb-europe has no parameter effect',
    in: 'infra/params/fleet.bicepparam',
  },
  {
    name: 'an alert that is evaluated over no period',
    source: 'https://github.com/Azure/azure-resource-manager-schemas/issues/1753',
    file: 'bicep/modules/alerts.bicep',
    from: /numberOfEvaluationPeriods: 1/,
    to: 'numberOfEvaluationPeriods: 0',
    findings: 'numberOfEvaluationPeriods must be 1 at least',
  },
  {
    name: 'a diagnostic setting that goes nowhere',
    source: 'https://learn.microsoft.com/azure/azure-monitor/platform/diagnostic-settings',
    file: 'bicep/modules/data-collection-rule.bicep',
    from: /(scope: publicRule\n {2}properties: \{\n) {4}workspaceId: workspaceResourceId\n/,
    to: '$1',
    findings: 'publicErrorLog: properties must have one of workspaceId',
  },
];

test.for(faults)('$name ($source)', ({ file, from, to, findings, in: seenIn = file, isInDescriptions }, { skip }) => {
  skip(isInDescriptions === true && azure === null, `Azure's own descriptions are not at ${describedIn}`);
  const text = textOf(file) ?? '';
  const changed = text.replace(from, to);
  expect(changed, `${file} has nothing that ${from} finds: plant the fault elsewhere`).not.toBe(text);
  const project = createProject((path) => (path === file ? changed : textOf(path)), azure);
  expect(check(project, reader, [seenIn]).join('\n')).toContain(findings);
});
