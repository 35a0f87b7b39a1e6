import { plant } from './plant.ts';

plant([
  {
    name: 'a version that is not ours',
    file: 'hub.bicep',
    from: "Microsoft.EventHub/namespaces@2024-01-01'",
    to: "Microsoft.EventHub/namespaces@2021-11-01'",
    findings: [
      'hub.bicep:26: Microsoft.EventHub/namespaces at 2021-11-01 is not described; 2024-01-01 is used here [BCP081]',
    ],
    without: ['hub.bicep:26: Microsoft.EventHub/namespaces@2021-11-01 is not in the table of known resources [BCP081]'],
  },
  {
    name: 'a type that is misspelt',
    file: 'rule.bicep',
    from: 'Microsoft.Insights/dataCollectionRules@2024-03-11',
    to: 'Microsoft.Insights/dataCollectionRule@2024-03-11',
    findings: [
      'rule.bicep:10: there is no type Microsoft.Insights/dataCollectionRule (did you mean Microsoft.Insights/dataCollectionRules?) [BCP081]',
    ],
    without: [
      'rule.bicep:10: Microsoft.Insights/dataCollectionRule@2024-03-11 is not in the table of known resources [BCP081]',
    ],
  },
  {
    name: 'a property that is misspelt',
    file: 'hub.bicep',
    from: 'disableLocalAuth: true',
    to: 'disableLocalAuths: true',
    findings: [
      'hub.bicep:26: namespace: properties.disableLocalAuth must be true: keys are not used [posture]',
      'hub.bicep:34: properties.disableLocalAuths: there is no such property (did you mean disableLocalAuth?) [BCP037]',
    ],
  },
  {
    name: 'a required property is missing',
    file: 'hub.bicep',
    from: '    principalId: senderId\n',
    to: '',
    findings: ['hub.bicep:55: properties: principalId is required and missing [BCP035]'],
  },
  {
    name: 'a property that Azure sets',
    file: 'rule.bicep',
    from: "    description: 'Records of VMs.'",
    to: "    immutableId: 'dcr-1'",
    findings: ['rule.bicep:15: properties.immutableId is read-only: Azure sets it [BCP073]'],
  },
  {
    name: 'a resource that is made and also called existing',
    file: 'rule.bicep',
    from: 'output ruleId string = rule.properties.immutableId\n',
    to: "output ruleId string = same.properties.immutableId\n\nresource same 'microsoft.insights/dataCollectionRules@2024-03-11' existing = {\n  name: name\n}\n",
    findings: [
      'rule.bicep:22: same and rule are the same resource, and can both be there: Azure refuses the template [BCP121]',
    ],
  },
  {
    name: 'a duplicate property',
    file: 'rule.bicep',
    from: "  kind: 'Direct'\n",
    to: "  kind: 'Direct'\n  kind: 'Direct'\n",
    findings: ['rule.bicep:14: kind occurs twice [BCP025]'],
  },
  {
    name: 'a child without parent',
    file: 'hub.bicep',
    from: '  parent: namespace\n',
    to: '',
    findings: [
      'hub.bicep:39: Microsoft.EventHub/namespaces/eventhubs needs parent: a resource of type Microsoft.EventHub/namespaces [use-parent-property]',
    ],
  },
  {
    name: 'a child of the wrong parent',
    file: 'hub.bicep',
    from: '  parent: hub\n',
    to: '  parent: namespace\n',
    findings: [
      'hub.bicep:48: parent: a resource of type Microsoft.EventHub/namespaces/eventhubs is wanted, namespace is Microsoft.EventHub/namespaces [BCP036]',
    ],
  },
  {
    name: 'an existing resource is given a region',
    file: 'tables.bicep',
    from: '  name: workspaceName\n',
    to: "  name: workspaceName\n  location: 'global'\n",
    findings: ['tables.bicep:11: location: there is no such property [BCP037]'],
  },
  {
    name: 'something that may be null where a value is required',
    file: 'main.bicep',
    from: '  location: location\n  tags: tags',
    to: '  location: tags.?region\n  tags: tags',
    findings: [
      'main.bicep:19: location: this may be null: give it a value with ??, or say with ! that it is not [BCP321]',
    ],
    without: [],
  },
  {
    name: 'a name that differs at each deployment',
    file: 'main.bicep',
    from: "name: 'id-bridge'",
    to: 'name: newGuid()',
    findings: ['main.bicep:18: newGuid() is another one at every deployment: guid() of what is stable [forbidden]'],
  },
  {
    name: 'a region that is written out',
    file: 'main.bicep',
    from: "resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {\n  name: 'id-bridge'\n  location: location",
    to: "resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {\n  name: 'id-bridge'\n  location: 'westeurope'",
    findings: [
      'main.bicep:19: location: westeurope is a parameter, so that it can be deployed elsewhere [no-hardcoded-location]',
    ],
  },
  {
    name: 'a host of one cloud',
    file: 'hub.bicep',
    from: 'environment().suffixes.storage',
    to: "'servicebus.windows.net'",
    findings: [
      'hub.bicep:66: servicebus.windows.net is of one cloud only: environment() knows the others [no-hardcoded-env-urls]',
    ],
  },
  {
    name: 'the role of readers for the sender',
    file: 'hub.bicep',
    from: '2b629674-e913-4c01-ae53-ef4638d8f975',
    to: 'a638d3c7-ab3a-418d-83e6-5f17a39d4fde',
    findings: ['hub.bicep:24: eventHubsDataSender is the id of the role Azure Event Hubs Data Receiver [role]'],
  },
  {
    name: 'a role that is not in the table',
    file: 'hub.bicep',
    from: '2b629674-e913-4c01-ae53-ef4638d8f975',
    to: 'b24988ac-6180-42a0-ab88-20f7382dd24c',
    findings: [
      'hub.bicep:24: b24988ac-6180-42a0-ab88-20f7382dd24c is not in the table of roles (test/tools/bicep/roles.ts) [role]',
    ],
  },
  {
    name: 'a role on the whole namespace',
    file: 'hub.bicep',
    from: '  scope: hub\n',
    to: '  scope: namespace\n',
    findings: [
      'hub.bicep:52: sender: Azure Event Hubs Data Sender is given on microsoft.eventhub/namespaces, and may be on microsoft.eventhub/namespaces/eventhubs [least-privilege]',
    ],
  },
  {
    name: 'a role on the resource group',
    file: 'hub.bicep',
    from: '  scope: hub\n',
    to: '',
    findings: [
      'hub.bicep:52: sender: Azure Event Hubs Data Sender is given on a resourceGroup, and may be on microsoft.eventhub/namespaces/eventhubs [least-privilege]',
    ],
  },
  {
    name: 'a role assignment without a kind of principal',
    file: 'hub.bicep',
    from: "    principalType: 'ServicePrincipal'\n",
    to: '',
    findings: ['hub.bicep:52: sender: principalType is missing: a new principal would not be found [BCP035]'],
  },
  {
    name: 'a role assignment whose name is not stable',
    file: 'hub.bicep',
    from: 'guid(hub.id, senderId, senderRole)',
    to: 'guid(senderId)',
    findings: ['hub.bicep:52: sender: its name is guid(scope, principal, role) [use-stable-resource-identifiers]'],
  },
  {
    name: 'a double bracket in a policy',
    file: 'rule.json',
    from: `"[parameters('type')]"`,
    to: `"[[parameters('type')]"`,
    findings: ["main.bicep:15: rule.json: [[parameters('type')…: one bracket, Bicep writes the second [BCP186]"],
  },
  {
    name: 'a double bracket in a text',
    file: 'main.bicep',
    from: "name: 'dcr-bridge'",
    to: "name: '[[x]]'",
    findings: ['main.bicep:40: [[x]]…: one bracket, Bicep writes the second [double-bracket]'],
  },
  {
    name: 'a file that is loaded and not there',
    file: 'tables.bicep',
    from: "'columns.json'",
    to: "'column.json'",
    findings: ['tables.bicep:7: there is no file column.json [BCP091]'],
  },
  {
    name: 'a loaded file that is no JSON',
    file: 'rule.json',
    from: '{"if":',
    to: '{if:',
    findings: [
      "main.bicep:15: rule.json: Expected property name or '}' in JSON at position 1 (line 1 column 2) [BCP186]",
    ],
  },
  {
    name: 'local authentication',
    file: 'hub.bicep',
    from: 'disableLocalAuth: true',
    to: 'disableLocalAuth: false',
    findings: ['hub.bicep:34: namespace: properties.disableLocalAuth must be true: keys are not used [posture]'],
  },
  {
    name: 'an old version of TLS',
    file: 'hub.bicep',
    from: "    minimumTlsVersion: '1.2'\n",
    to: '',
    findings: [
      'hub.bicep:26: namespace: properties.minimumTlsVersion must be 1.2: older versions are not safe [posture]',
    ],
  },
  {
    name: 'a key is read',
    file: 'hub.bicep',
    from: '= hub.id',
    to: '= hub.listKeys().primaryKey',
    findings: ['hub.bicep:63: listKeys() reads a key or secret: identities and roles are used here [no-keys]'],
  },
  {
    name: 'a command in the open settings',
    file: 'vm.bicep',
    from: '    protectedSettings: {',
    to: '    settings: {',
    findings: [
      'vm.bicep:24: extension: commandToExecute belongs in protectedSettings [protect-commandtoexecute-secrets]',
    ],
    without: [
      'vm.bicep:23: properties.settings: there is no such property [BCP037]',
      'vm.bicep:24: extension: commandToExecute belongs in protectedSettings [protect-commandtoexecute-secrets]',
    ],
  },
  {
    name: 'a secret in an output',
    file: 'vm.bicep',
    from: "resource vm '",
    to: "@description('The command.')\noutput ran string = command\n\nresource vm '",
    findings: ['vm.bicep:12: ran: command is secure: outputs are kept in clear [outputs-should-not-contain-secrets]'],
  },
  {
    name: 'a rule before its table',
    file: 'main.bicep',
    from: '  dependsOn: [\n    tables\n  ]\n',
    to: '',
    findings: [
      'main.bicep:38: collection makes a data collection rule and waits for no table: dependsOn: [tables] [table-first]',
    ],
  },
  {
    name: 'a value that Azure does not know',
    file: 'tables.bicep',
    from: "plan: 'Analytics'",
    to: "plan: 'Analytic'",
    findings: [
      "tables.bicep:17: properties.plan: 'Analytic' is not one of 'Basic', 'Analytics', 'Auxiliary' (did you mean Analytics?) [BCP036]",
    ],
    without: [],
  },
  {
    name: 'a text in place of a number',
    file: 'hub.bicep',
    from: '    capacity: 1',
    to: "    capacity: 'one'",
    findings: ["hub.bicep:31: sku.capacity: an int is wanted, this is 'one' [BCP036]"],
    without: [],
  },
  {
    name: 'a number that is too small for Azure',
    file: 'hub.bicep',
    from: 'size.?partitions ?? 8',
    to: '0',
    findings: ['hub.bicep:43: properties.partitionCount: 0 is less than 1 [BCP036]'],
    without: [],
  },
  {
    name: 'a name that Azure refuses',
    file: 'tables.bicep',
    from: "  name: 'Records_CL'\n  properties",
    to: "  name: 'My Records_CL'\n  properties",
    findings: ["tables.bicep:15: name: 'My Records_CL' does not match ^[A-Za-z0-9-_]+$ [BCP036]"],
    without: [],
  },
  {
    name: 'a list in place of an object',
    file: 'rule.bicep',
    from: "  properties: {\n    description: 'Records of VMs.'\n  }",
    to: '  properties: []',
    findings: ['rule.bicep:14: properties: an object or null is wanted, this is an array [BCP036]'],
  },
  {
    name: 'a property that is read and that Azure does not give',
    file: 'rule.bicep',
    from: 'rule.properties.immutableId',
    to: 'rule.properties.immutableID',
    findings: [
      'rule.bicep:20: there is no property immutableID in DataCollectionRuleResourceProperties (did you mean immutableId?) [BCP053]',
    ],
    without: [
      'rule.bicep:20: there is no property immutableID in the known properties (did you mean immutableId?) [BCP053]',
    ],
  },
]);
