import { expect, test } from 'vitest';
import { check } from '../support/bicep/check.ts';
import { bicepFiles, textOf } from '../support/bicep/files.ts';
import { createProject } from '../support/bicep/project.ts';
import { createSecondReader } from '../support/bicep/second-reader.ts';

const reader = await createSecondReader();

/** One thing changed in a file of ours: the checks that guard it look where they should. */
const faults: readonly {
  readonly name: string;
  readonly file: string;
  readonly from: RegExp;
  readonly to: string;
  readonly says: string;
}[] = [
  {
    name: 'keys are let in at the hub',
    file: 'bicep/modules/event-hub.bicep',
    from: /disableLocalAuth: true/,
    to: 'disableLocalAuth: false',
    says: 'properties.disableLocalAuth must be true',
  },
  {
    name: 'a table is made by an old version',
    file: 'bicep/modules/tables.bicep',
    from: /workspaces\/tables@[\d-]+/,
    to: 'workspaces/tables@2020-08-01',
    says: 'Microsoft.OperationalInsights/workspaces/tables@2020-08-01',
  },
  {
    name: 'a workspace is both made and there',
    file: 'bicep/modules/log-analytics.bicep',
    from: /existing = if \(exists\)/,
    to: 'existing = if (name != resourceGroup().name)',
    says: 'present and created are the same resource, and can both be there',
  },
  {
    name: 'bridges own the hub',
    file: 'bicep/modules/role-assignments.bicep',
    from: /2b629674-e913-4c01-ae53-ef4638d8f975/,
    to: 'f526a384-b230-433a-b45c-95f59c4a2dec',
    says: 'f526a384-b230-433a-b45c-95f59c4a2dec is not in the table of roles',
  },
  {
    name: 'the rule waits for no table',
    file: 'infra/main.bicep',
    from: /(module rules [\s\S]*?)dependsOn: \[tables\]/,
    to: '$1',
    says: 'rules makes a data collection rule and waits for no table',
  },
  {
    name: 'an output of the rule is misspelt',
    file: 'infra/main.bicep',
    from: /outputs\.ruleId/,
    to: 'outputs.ruleID',
    says: 'there is no property ruleID in the outputs of bicep/modules/data-collection-rule.bicep (did you mean ruleId?)',
  },
  {
    name: 'a setting that a bridge must know is left out',
    file: 'infra/main.bicep',
    from: /^ +heartbeatStreamName: .*\n/m,
    to: '',
    says: 'heartbeatStreamName is required and missing',
  },
  {
    name: 'a parameter that main does not have',
    file: 'infra/params/small.bicepparam',
    from: /^param /m,
    to: 'param retentionWeeks = 4\nparam ',
    says: '../main.bicep has no parameter retentionWeeks',
  },
  {
    name: 'nobody says who lets events of people go ahead',
    file: 'infra/params/fleet.bicepparam',
    from: /^param userInitiatedEvents.*\n/m,
    to: '',
    says: 'userInitiatedEvents is required by ../fleet.bicep and missing',
  },
  {
    name: 'a workbook is larger than Bicep loads',
    file: 'infra/workbooks/fleet.workbook',
    from: /^/,
    to: ' '.repeat(131_072),
    says: 'loadTextContent() takes 131072',
  },
  {
    name: 'a policy escapes a bracket itself',
    file: 'infra/policy/identity-virtual-machine.json',
    from: /"\[/,
    to: '"[[',
    says: 'one bracket, Bicep writes the second',
  },
  {
    name: 'a policy asks for the rights of an owner',
    file: 'infra/policy/identity-virtual-machine.json',
    from: /roleDefinitions\/[0-9a-f-]{36}/,
    to: 'roleDefinitions/8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
    says: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635 is not in the table of roles',
  },
];

test.for(faults)('it is seen in our own files when $name', ({ file, from, to, says }) => {
  const text = textOf(file) ?? '';
  const changed = text.replace(from, to);
  expect(changed, `${file} has nothing that ${from} finds: plant the fault elsewhere`).not.toBe(text);
  const project = createProject((path) => (path === file ? changed : textOf(path)), null);
  expect(check(project, reader, bicepFiles()).join('\n')).toContain(says);
});
