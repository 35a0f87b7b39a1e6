import { makeConfiguration } from '../../infra/bridge-configuration.ts';
import { tokenFailure } from '../../src/azure/token-failure.ts';
import * as remedy from '../../src/check/remedy.ts';
import { ConsumerGroupNotFoundError } from '../../src/consumer/index.ts';
import * as hubRemedy from '../../src/sinks/event-hubs/remedy.ts';
import * as ruleRemedy from '../../src/sinks/log-analytics/remedy.ts';
import { noToken } from '../../src/tail/refusal.ts';
import { evaluateFile } from '../tools/bicep/evaluate.ts';
import { textOf } from '../tools/bicep/files.ts';
import { createProject } from '../tools/bicep/project.ts';
import { callOfAz, type Written, writtenIn } from './documents.ts';

const subscriptionId = '11111111-2222-4333-8444-555555555555';
const clientId = '22222222-3333-4444-8555-666666666666';
const namespace = 'evhns-x.servicebus.windows.net';
const inGroup = (group: string, path: string): string =>
  `/subscriptions/${subscriptionId}/resourcegroups/${group}/providers/microsoft.compute/${path}`;
const instance = 'virtualmachinescalesets/web/virtualmachines/3';

/** Nothing is known; a VM; one of a flexible set; of a uniform one, with and without its name; a resource group with parentheses. */
const vms: readonly remedy.KnownVm[] = [
  null,
  ...(
    [
      ['rg', 'virtualmachines/web_3', null],
      ['rg', 'virtualmachines/web_3', 'web'],
      ['rg', instance, 'web'],
      ['rg', instance, null],
      ['rg(test)', 'virtualmachines/web_3', null],
    ] as const
  ).map(([resourceGroup, path, vmScaleSetName]) => ({
    vmName: 'web_3',
    resourceId: inGroup(resourceGroup, path),
    subscriptionId,
    resourceGroup,
    vmScaleSetName,
    osType: 'Linux',
  })),
];

const hub = { namespace, eventHub: 'vm-lifecycle' };
const ruleId = `dcr-${'0'.repeat(32)}`;

/** `subscription` is a part of what the others print. */
type RemedyName = Exclude<keyof typeof remedy, 'subscription'> | keyof typeof hubRemedy | keyof typeof ruleRemedy;

/** What `check` and `tail` print, by the function that makes it: every branch of it. A new function has no row and does not compile. */
const remedies: Readonly<Record<RemedyName, (vm: remedy.KnownVm) => readonly string[]>> = {
  azVm: (vm) => [remedy.azVm(vm, 'show'), remedy.azVm(vm, 'show', '--query id')],
  assignIdentity: (vm) => [remedy.assignIdentity(vm, null), remedy.assignIdentity(vm, clientId)],
  listIdentities: (vm) => [remedy.listIdentities(vm)],
  showProxyAgent: (vm) => [remedy.showProxyAgent(vm)],
  grantSend: (vm) => [hubRemedy.grantSend(hub, null, vm), hubRemedy.grantSend(hub, clientId, vm)],
  grantReceive: () => [hubRemedy.grantReceive(hub, null), hubRemedy.grantReceive(hub, clientId)],
  addConsumerGroup: () => [hubRemedy.addConsumerGroup(hub, 'tail')],
  listEventHubs: (vm) => [hubRemedy.listEventHubs(namespace, vm), hubRemedy.listEventHubs(namespace)],
  listPolicies: (vm) =>
    [null, 'sender', 'RootManageSharedAccessKey'].map((policy) => hubRemedy.listPolicies({ ...hub, policy }, vm)),
  showNetworkRules: (vm) => [hubRemedy.showNetworkRules(namespace, vm)],
  switchHubOn: (vm) => [hubRemedy.switchHubOn(hub, vm)],
  grantPublish: (vm) => [
    ruleRemedy.grantPublish({ ruleId, resourceId: null }, null, vm),
    ruleRemedy.grantPublish({ ruleId, resourceId: inGroup('rg', 'x/y') }, clientId, vm),
  ],
  listRules: (vm) => [ruleRemedy.listRules(vm)],
  queryFor: () => [ruleRemedy.queryFor('Custom-VmLifecycle_CL', '0123')],
  assignRole: () => [remedy.assignRole('Reader', clientId, inGroup('rg', 'virtualmachines/web_3'))],
};

/** The file that a function is in. */
const pathOf = (name: string): string =>
  name in hubRemedy
    ? 'src/sinks/event-hubs/remedy.ts'
    : name in ruleRemedy
      ? 'src/sinks/log-analytics/remedy.ts'
      : 'src/check/remedy.ts';

/** What `check` prints as a command, by its text. */
const remedyPaths: ReadonlyMap<string, string> = new Map(
  Object.entries(remedies)
    .flatMap(([name, render]) => vms.flatMap((vm) => render(vm).map((line) => [line, pathOf(name)] as const)))
    .filter(([line]) => line.search(callOfAz) !== -1),
);

/** What `check` prints as a command, once each. */
export const remedyLines: readonly string[] = [...remedyPaths.keys()];

/** Everything of `text` from an `az` on to the end of its line, without the pipe into what comes next. */
const toTheEnd = (text: string): string[] =>
  [...text.matchAll(/\baz [a-z].*$/gm)].map(([line]) => line.replace(/\s*\|$/, ''));

/** What is said where no token comes: with and without an identity that is named, and where several are assigned. */
function tokenMessages(): readonly Written[] {
  const endpoint = { name: '169.254.169.254', isOfAzure: true };
  const path = 'src/azure/token-failure.ts';
  return [null, clientId].flatMap((id) =>
    ['', 'Multiple identities'].flatMap((message) =>
      writtenIn(path, tokenFailure({ status: 400, retryAfterMs: null, message }, { clientId: id, endpoint }).reason),
    ),
  );
}

/** What `tail` says where no token comes. */
const tailMessages: readonly Written[] = [{ path: 'src/tail/refusal.ts', text: noToken('none').remedy, kind: 'line' }];

/** What the example subscribers say where there is no identity. Their messages are in programs, which are not imported here. */
const subscribers = ['infra/examples/subscriber.ts', 'infra/examples/load-balancer/subscriber.ts'];
const subscriberMessages: readonly Written[] = subscribers.flatMap((path) => writtenIn(path, textOf(path) ?? ''));

/** What `followHub` reports where the consumer group does not exist. */
const consumerMessages: readonly Written[] = toTheEnd(
  new ConsumerGroupNotFoundError(
    { fullyQualifiedNamespace: namespace, eventHubName: 'vm-lifecycle', consumerGroup: '$Default' },
    {},
  ).message,
).map((text) => ({ path: 'src/consumer/follow-hub.ts', text, kind: 'line' }));

/** What `npm run bridge-configuration` says: its help, and where nothing was piped into it. */
function configurationMessages(): readonly Written[] {
  const said: string[] = [];
  const io = {
    read: () => '',
    write: () => {},
    print: (text: string) => void said.push(text),
    say: (text: string) => void said.push(text),
  };
  makeConfiguration(['--help'], io);
  makeConfiguration(['--user-initiated-events', 'acceptDelay'], io);
  return toTheEnd(said.join('\n')).map((text) => ({ path: 'infra/bridge-configuration.ts', text, kind: 'line' }));
}

/** The commands among the outputs of a deployment of a fleet. */
function fleetOutputs(): readonly Written[] {
  const platforms = [{ name: 'europe', rings: [], versions: [], regions: [], architectures: ['x64'], settings: {} }];
  const given = { platforms, userInitiatedEvents: 'platformApproves' };
  const fleet = evaluateFile(createProject(textOf, null), 'infra/fleet.bicep', given);
  return [fleet.output('listUncovered'), ...(fleet.output('setUserInitiatedEvents') as string[])].map((text) => ({
    path: 'infra/fleet.bicep',
    text: String(text).replaceAll('«managementGroup().name»', 'fleet'),
    kind: 'line',
  }));
}

/** Every line about the Azure CLI that is not in a document, made as it is printed. */
export const printed: readonly Written[] = [
  ...[...remedyPaths].map(([text, path]): Written => ({ path, text, kind: 'line' })),
  ...tokenMessages(),
  ...tailMessages,
  ...subscriberMessages,
  ...consumerMessages,
  ...configurationMessages(),
  ...fleetOutputs(),
];
