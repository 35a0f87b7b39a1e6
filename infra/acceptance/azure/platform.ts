import type { BridgeSettings } from '../../bridge-configuration.ts';
import { listDeployments } from '../commands.ts';
import type { Step, StepContext } from '../step.ts';
import {
  createGroup,
  listActivityAlerts,
  listAlertRules,
  listMetricAlerts,
  showTable,
  showWorkspace,
} from './commands.ts';
import { deployTemplate, previewAgain, type TemplateDeployment, whatIfOf } from './deployment.ts';
import { foundBy, type PlatformFound } from './found.ts';
import { namesOf } from './names.ts';
import { forPlatform, free } from './prices.ts';

export const groups: Step = {
  id: 'groups',
  title: 'create the two resource groups',
  phase: 'deploy',
  needs: ['login', 'providers', 'rights'],
  creates: ['the two resource groups of the run'],
  rights: ['Contributor on the subscription'],
  cost: free('groups are free'),
  minutes: 1,
  proves: [],
  commands: (run) =>
    groupNames(run.groups).map((name) => createGroup(run, { name, location: run.location, tags: run.tags })),
  run: async ({ az, run }) => {
    for (const name of groupNames(run.groups)) {
      await az.call(createGroup(run, { name, location: run.location, tags: run.tags }));
    }
  },
};

const groupNames = ({ platform, machines }: { platform: string; machines: string }): readonly string[] => [
  platform,
  machines,
];

const tables = ['VmLifecycle_CL', 'VmLifecycleBridge_CL'] as const;

/** `main.bicep` in its smallest form: one shard, one throughput unit that does not scale, the shortest retention, no e-mails. */
export const platformTemplate = (
  run: StepContext['run'],
  reader: { readonly principalId: string; readonly principalType: string },
): TemplateDeployment => ({
  name: namesOf(run).deployment('platform'),
  scope: { location: run.location },
  template: 'infra/main.bicep',
  parameters: {
    location: run.location,
    name: namesOf(run).platform,
    resourceGroupName: run.groups.platform,
    tags: run.tags,
    eventHubSize: {
      skuName: 'Standard',
      capacity: 1,
      maximumThroughputUnits: 0,
      partitionCount: 4,
      retentionHours: 24,
    },
    retentionDays: 30,
    totalRetentionDays: 30,
    // Reads the records of the run.
    readers: [reader],
  },
});

export const platform: Step = {
  id: 'platform',
  title: 'preview the platform, deploy it, and look at its tables and alert rules',
  phase: 'deploy',
  needs: ['groups', 'compile'],
  creates: [
    'an Event Hubs namespace, a workspace with two tables, a data collection rule, an identity, queries, a workbook and alert rules',
    'records of deployments to the subscription; Azure deletes those of modules itself',
  ],
  rights: ['Contributor on the subscription', 'Role Based Access Control Administrator on the subscription'],
  cost: forPlatform(),
  minutes: 15,
  proves: ['alert-metrics-of-rules', 'alert-unvalidated', 'bicep-existing-resource', 'deploy-nested-records'],
  run: async (context) => {
    const { run, found, report, say } = context;
    const names = namesOf(run);
    const { principalId, principalType } = foundBy(found, 'login');
    const template = platformTemplate(run, { principalId, principalType });
    context.willCreate({ kind: 'workspace', group: run.groups.platform, name: names.workspace });

    const before = await whatIfOf(context, template, 'before');
    say(
      `what-if before the deployment: ${before.changes.length} changes, ${before.unknown.length} that it cannot show`,
    );
    const outputs = await deployTemplate(context, template);
    report({
      assumption: 'bicep-existing-resource',
      verdict: 'proven',
      evidence: `The first deployment of main.bicep, ${template.name}, succeeded with ids of resources that it created itself.`,
      file: before.file,
    });
    report({
      assumption: 'alert-unvalidated',
      verdict: 'proven',
      evidence: `The first deployment, ${template.name}, created the tables and the rules over them.`,
      file: before.file,
    });
    found.set('platform', await platformFrom(context, outputs));
    await verifyRecords(context, template.name);
    await verifyTables(context);
    await verifyAlerts(context, outputs.alertNames as readonly string[]);
  },
};

export const platformAgain: Step = {
  id: 'platform-again',
  title: 'preview and deploy the platform again, which must change nothing',
  phase: 'deploy',
  needs: ['platform'],
  creates: [],
  rights: ['Contributor on the subscription', 'Role Based Access Control Administrator on the subscription'],
  cost: free('nothing more is created'),
  minutes: 8,
  proves: ['bicep-functions-again', 'bicep-idempotent'],
  run: async (context) => {
    const { principalId, principalType } = foundBy(context.found, 'login');
    const template = platformTemplate(context.run, { principalId, principalType });
    await previewAgain(context, template);
    await deployTemplate(context, template);
    context.report({
      assumption: 'bicep-functions-again',
      verdict: 'proven',
      evidence: 'The second deployment of main.bicep, with all saved functions, succeeded.',
    });
  },
};

async function platformFrom(
  { az, run }: StepContext,
  outputs: Readonly<Record<string, unknown>>,
): Promise<PlatformFound> {
  const settings = outputs.settings as BridgeSettings;
  const group = `/subscriptions/${run.subscription}/resourceGroups/${run.groups.platform}`;
  const namespace = settings.fullyQualifiedNamespace.split('.')[0];
  const namespaceResourceId = `${group}/providers/Microsoft.EventHub/namespaces/${namespace}`;
  const workspaceResourceId = String(outputs.workspaceResourceId);
  const workspace = (await az.call(
    showWorkspace(run, { group: run.groups.platform, workspace: workspaceResourceId.split('/').at(-1) ?? '' }),
  )) as { customerId: string };
  return {
    resourceGroup: run.groups.platform,
    settings,
    namespaceResourceId,
    eventHubResourceId: `${namespaceResourceId}/eventhubs/${settings.eventHubName}`,
    ruleResourceId: `${group}/providers/Microsoft.Insights/dataCollectionRules/dcr-${namesOf(run).platform}-1`,
    workspaceResourceId,
    workspaceId: workspace.customerId,
    identityPrincipalId: String(outputs.identityPrincipalId),
    workbookResourceId: String(outputs.workbookResourceId),
    queryPackResourceId: String(outputs.queryPackResourceId),
    alertNames: outputs.alertNames as readonly string[],
  };
}

/** `main.bicep` deploys `content.bicep` to the subscription: a record of its own, which the clean-up finds by what it has in common. */
async function verifyRecords({ az, run, report, save }: StepContext, deployment: string): Promise<void> {
  const records = (await az.call(listDeployments(run))) as readonly { name: string; correlationId: string | null }[];
  const own = records.find(({ name }) => name === deployment)?.correlationId ?? null;
  const related = records.filter((one) => own !== null && one.correlationId === own);
  const isSeen = related.some(({ name }) => /^content/i.test(name));
  report({
    assumption: 'deploy-nested-records',
    verdict: isSeen ? 'proven' : 'refuted',
    evidence: `Of ${records.length} records of deployments to the subscription, these have the correlation id of ${deployment}: ${related.map(({ name }) => name).join(', ') || 'none'}.`,
    file: save('deployments.json', `${JSON.stringify(related, null, 2)}\n`),
  });
}

async function verifyTables({ az, run, save }: StepContext): Promise<void> {
  for (const table of tables) {
    const answer = await az.call(
      showTable(run, { group: run.groups.platform, workspace: namesOf(run).workspace, table }),
    );
    save(`table-${table}.json`, `${JSON.stringify(answer, null, 2)}\n`);
    const { provisioningState, plan } = answer as { provisioningState?: string; plan?: string };
    if (provisioningState !== 'Succeeded') {
      throw new Error(`The table ${table} is ${provisioningState ?? 'unknown'} (plan ${plan ?? 'unknown'}).`);
    }
  }
}

interface AlertRule {
  readonly name: string;
  readonly enabled: boolean;
}

/** Alerts on metrics of a data collection rule. `infra/alerts/alerts.yaml` describes them. */
const metricsOfRules = ['A16', 'A17', 'A18'] as const;

async function verifyAlerts({ az, run, report, save, say }: StepContext, expected: readonly string[]): Promise<void> {
  const list = async (args: readonly string[]): Promise<readonly AlertRule[]> => (await az.call(args)) as AlertRule[];
  const group = run.groups.platform;
  const queries = await list(listAlertRules(run, group));
  const metrics = await list(listMetricAlerts(run, group));
  const activities = await list(listActivityAlerts(run, group));
  const file = save('alerts.json', `${JSON.stringify({ expected, queries, metrics, activities }, null, 2)}\n`);
  const deployed = metricsOfRules.filter((alert) => metrics.some(({ name }) => name.includes(`-${alert}-`)));
  if (deployed.length === metricsOfRules.length) {
    report({
      assumption: 'alert-metrics-of-rules',
      verdict: 'proven',
      evidence: `Azure accepted the rules ${deployed.join(', ')} on metrics.`,
      file,
    });
  }
  const names = new Set([...queries, ...metrics, ...activities].map(({ name }) => name));
  const missing = expected.filter((name) => !names.has(name));
  if (missing.length > 0) throw new Error(`Alert rules are missing after the deployment: ${missing.join(', ')}.`);
  say(`all ${expected.length} alert rules are there`);
}
