import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AzError } from '../az.ts';
import { isAnswer } from '../az-errors.ts';
import { assignRole } from '../azure/commands.ts';
import { foundBy, machinesFound } from '../azure/found.ts';
import { assumedHours } from '../azure/prices.ts';
import type { Step, StepContext } from '../step.ts';
import { alertRules } from './all-queries.ts';
import { listMetrics, listRaisedAlerts, patchQueryRule, showQueryRule, showResourceHealth } from './commands.ts';
import { describeAnswer, type RefusalAnswer, sendCases, streamCases } from './refusal-cases.ts';
import { nothingLeft, readsOnly } from './step-parts.ts';
import { waitFor } from './wait-for.ts';

const onPlatform = 'Role Based Access Control Administrator on the resource group of the platform';
const free = { usd: 0, basis: 'role assignments are free of charge' } as const;
/** Raised by a restart that a user asks for, which is among the scenarios. */
const rowAlert = 'A1-user';

/** Steps that ask Azure itself about rights, alert rules and metrics: the simulator has none of them. */
export const alertSteps: readonly Step[] = [
  {
    id: 'data-rights',
    title: 'let the account that is logged in send to the hub and to the rule',
    phase: 'deploy',
    needs: ['login', 'platform'],
    creates: ['two role assignments of the account, on the namespace and on the data collection rule'],
    rights: [onPlatform],
    cost: free,
    minutes: 1,
    proves: ['logs-role-missing'],
    run: giveRights,
  },
  {
    id: 'enable-row-alert',
    title: `enable the rule ${rowAlert}, which a restart raises`,
    phase: 'install',
    needs: ['platform'],
    creates: [],
    rights: ['Monitoring Contributor on the resource group of the platform'],
    cost: { usd: 0.05, basis: 'a rule that looks at each row, for some hours of $3 a month' },
    minutes: 1,
    proves: [],
    run: enableRowAlert,
  },
  {
    ...readsOnly('azure'),
    id: 'read-alerts',
    title: 'every alert rule over the workspace: deployed as written, its health, its query over tables without rows',
    minutes: 5,
    proves: ['alert-empty-tables', 'alert-functions'],
    run: checkRules,
  },
  {
    ...readsOnly('azure'),
    id: 'read-row-alert',
    title: 'the alert that a restart has raised',
    needs: ['enable-row-alert'],
    minutes: 15,
    proves: ['alert-rows'],
    run: findRowAlert,
  },
  {
    ...readsOnly('azure'),
    id: 'read-metrics',
    title: 'metrics of the namespace, and of the availability of a VM',
    minutes: 5,
    proves: ['alert-hub-metrics', 'alert-vm-availability'],
    run: readMetrics,
  },
];

async function giveRights(context: StepContext): Promise<void> {
  const { az, run, found, target } = context;
  const [refused] = await sendCases(emptyList, await target.destinations(), 'acceptance');
  if (refused !== undefined && refused.status === 403) reportRefusedRole(context, refused);
  const { principalId, principalType } = foundBy(found, 'login');
  const { namespaceResourceId, ruleResourceId } = foundBy(found, 'platform');
  // With a role on one hub only, Azure may refuse another name before it looks whether there is such a hub.
  const roles = { 'Azure Event Hubs Data Sender': namespaceResourceId, 'Monitoring Metrics Publisher': ruleResourceId };
  for (const [role, scope] of Object.entries(roles)) {
    await az.call(assignRole(run, { role, scope, principalId, principalType }));
  }
}

const emptyList = streamCases.filter(({ id }) => id === 'empty-list');

/** An owner of a subscription has no right to send either, so this is the answer to a sender without the role. */
function reportRefusedRole({ report, save }: StepContext, refused: RefusalAnswer): void {
  const isNamed = refused.message.includes('DcrArmId');
  report({
    assumption: 'logs-role-missing',
    verdict: isNamed ? 'proven' : 'refuted',
    evidence: `Without the role the rule answers ${describeAnswer(refused)}, ${isNamed ? 'naming' : 'without'} DcrArmId.`,
    file: save('without-role.json', JSON.stringify(refused, null, 1)),
  });
}

const ruleIdOf = ({ run, found }: StepContext, alert: string): string => {
  const name = foundBy(found, 'platform').alertNames.find((each) => each.endsWith(`-${alert}`));
  if (name === undefined) throw new Error(`The platform was deployed without the rule ${alert}.`);
  return `/subscriptions/${run.subscription}/resourceGroups/${run.groups.platform}/providers/Microsoft.Insights/scheduledQueryRules/${name}`;
};

async function enableRowAlert(context: StepContext): Promise<void> {
  const { az, run } = context;
  mkdirSync(join(run.folder, 'queries'), { recursive: true });
  const file = join(run.folder, 'queries', 'enable-rule.json');
  writeFileSync(file, JSON.stringify({ properties: { enabled: true } }));
  await az.call(patchQueryRule(run, ruleIdOf(context, rowAlert), file));
}

/** What is used of a rule, and of its health. */
interface ShownRule {
  readonly properties?: {
    readonly enabled?: boolean;
    readonly criteria?: { readonly allOf?: readonly { readonly query?: string }[] };
  };
}
interface Health {
  readonly properties?: {
    readonly availabilityState?: string;
    readonly reasonType?: string;
    readonly summary?: string;
  };
}

/** A rule that runs hourly has no health before it ran. https://learn.microsoft.com/azure/azure-monitor/alerts/log-alert-rule-health */
const unhealthy = ['Unavailable', 'Degraded'];

async function checkRules(context: StepContext): Promise<void> {
  const { az, run, target, say, save, report } = context;
  const problems: string[] = [];
  const seen = [];
  for (const rule of alertRules()) {
    const id = ruleIdOf(context, rule.name);
    const { properties } = (await az.call(showQueryRule(run, id))) as ShownRule;
    const health = ((await az.call(showResourceHealth(run, id)).catch(() => ({}))) as Health).properties;
    const query = properties?.criteria?.allOf?.[0]?.query;
    const wanted = rule.enabled || rule.name === rowAlert;
    if (query?.replaceAll('\r', '').trim() !== rule.query.trim())
      problems.push(`The rule ${rule.name} has another query than alerts.yaml.`);
    if (properties?.enabled !== wanted)
      problems.push(`The rule ${rule.name} is ${properties?.enabled ? 'enabled' : 'disabled'}.`);
    if (wanted && unhealthy.includes(health?.availabilityState ?? '')) {
      problems.push(`The rule ${rule.name} is ${health?.availabilityState}: ${health?.summary ?? health?.reasonType}.`);
    }
    const failure = await target.query(rule.query).then(
      () => null,
      (error: Error) => {
        if (error.cause instanceof AzError && !isAnswer(error.cause)) throw error;
        return error.message;
      },
    );
    if (failure !== null) problems.push(`The query of the rule ${rule.name} fails: ${failure}`);
    seen.push({ name: rule.name, enabled: properties?.enabled, health, failure });
  }
  const file = save('alert-rules.json', JSON.stringify(seen, null, 1));
  say(
    `${seen.length} rules: ${seen.map(({ name, health }) => `${name} ${health?.availabilityState ?? 'without health'}`).join(', ')}`,
  );
  const empty = await emptyTables(context);
  const failed = problems.find((problem) => problem.includes('fails: '));
  const unable = problems.find((problem) => / fails: | is (Unavailable|Degraded): /.test(problem));
  const ran = seen.some(({ health }) => health?.availabilityState === 'Available');
  if (empty.length > 0 || failed !== undefined) {
    report({
      assumption: 'alert-empty-tables',
      verdict: failed === undefined ? 'proven' : 'refuted',
      evidence: failed ?? `The queries of all ${seen.length} rules ran while ${empty.join(' and ')} had no rows.`,
      file,
    });
  }
  if (ran) {
    report({
      assumption: 'alert-functions',
      verdict: unable === undefined ? 'proven' : 'refuted',
      evidence: unable ?? 'Rules whose queries call stored functions are deployed, and their health is Available.',
      file,
    });
  }
  nothingLeft(context, 'The alert rules', problems);
}

/** Tables without rows among those of Azure that rules read. */
async function emptyTables({ target }: StepContext): Promise<readonly string[]> {
  const empty: string[] = [];
  for (const table of ['Heartbeat', 'DCRLogErrors']) {
    const { rows } = await target.query(`${table} | take 1`);
    if (rows.length === 0) empty.push(table);
  }
  return empty;
}

/** What is used of a raised alert. https://learn.microsoft.com/rest/api/monitor/alertsmanagement/alerts/get-all */
interface RaisedAlert {
  readonly properties?: { readonly essentials?: { readonly alertRule?: string; readonly startDateTime?: string } };
}

async function findRowAlert(context: StepContext): Promise<void> {
  const { az, run, target, measure, report, save } = context;
  const { rows } = await target.query(
    "VmLifecycleRecords(1d) | where ObserverAffected == true and Phase == 'Scheduled' and EventSource == 'User' and EventType in ('Reboot', 'Redeploy') | project VmName, TimeGenerated | order by TimeGenerated asc",
  );
  const [first] = rows;
  if (first === undefined)
    throw new Error('No scenario has announced a restart that a user asked for, so the rule had no row.');
  const name = ruleIdOf(context, rowAlert).split('/').at(-1) ?? '';
  const raised = await waitFor(context, { what: `The alert of ${name}`, minutes: 10 }, async () => {
    const { value = [] } = (await az.call(listRaisedAlerts(run, run.groups.platform))) as {
      readonly value?: readonly RaisedAlert[];
    };
    return value.find(({ properties }) => properties?.essentials?.alertRule?.endsWith(name)) ?? null;
  });
  const { startDateTime = '' } = raised.properties?.essentials ?? {};
  const seconds = (Date.parse(startDateTime) - Date.parse(String(first.TimeGenerated))) / 1000;
  if (Number.isFinite(seconds)) measure('from a record until its alert is raised', seconds, String(first.VmName));
  report({
    assumption: 'alert-rows',
    verdict: 'proven',
    evidence: `${name} was raised at ${startDateTime}, after the record of ${String(first.TimeGenerated)}.`,
    file: save('row-alert.json', JSON.stringify(raised, null, 1)),
  });
}

/** Of the rules A9 and A12 to A16. */
const hubMetrics = [
  'ThrottledRequests',
  'ActiveConnections',
  'ServerErrors',
  'UserErrors',
  'QuotaExceededErrors',
  'CaptureBacklog',
] as const;

/** What is used of `az monitor metrics list`. */
interface Metrics {
  readonly value?: readonly {
    readonly name?: { readonly value?: string };
    readonly timeseries?: readonly { readonly data?: readonly Readonly<Record<string, number | null>>[] }[];
  }[];
}

const pointsOf = ({ value = [] }: Metrics, metric: string): readonly Readonly<Record<string, number | null>>[] =>
  value
    .filter(({ name }) => name?.value === metric)
    .flatMap(({ timeseries = [] }) => timeseries.flatMap(({ data = [] }) => data));

async function readMetrics(context: StepContext): Promise<void> {
  const { az, run, found, report, save, say } = context;
  const read = async (resource: string, metrics: readonly string[]): Promise<Metrics> =>
    (await az.call(listMetrics(run, { resource, metrics, hours: assumedHours }))) as Metrics;
  const metricsOfHub = [...hubMetrics, 'IncomingMessages'];
  const ofHub = await read(foundBy(found, 'platform').namespaceResourceId, metricsOfHub).catch((error: unknown) => {
    if (error instanceof AzError && /Failed to find metric configuration/i.test(error.message)) {
      report({ assumption: 'alert-hub-metrics', verdict: 'refuted', evidence: error.message });
    }
    throw error;
  });
  const file = save('metrics.json', JSON.stringify(ofHub, null, 1));
  const received = pointsOf(ofHub, 'IncomingMessages').reduce((sum, { total }) => sum + (total ?? 0), 0);
  say(`the namespace counts ${received} messages`);
  const known = (ofHub.value ?? []).map(({ name }) => name?.value);
  const missing = hubMetrics.filter((metric) => !known.includes(metric));
  report({
    assumption: 'alert-hub-metrics',
    verdict: missing.length === 0 ? 'proven' : 'refuted',
    evidence:
      missing.length === 0
        ? `The namespace has ${hubMetrics.join(', ')}.`
        : `The namespace has no metric ${missing.join(', ')}.`,
    file,
  });
  const vms = machinesFound(found).filter(({ instanceId }) => instanceId === null);
  const metric = 'VmAvailabilityMetric';
  for (const { name, resourceId } of vms) {
    // A VM that a scenario has deleted has no metrics either.
    const points = pointsOf(await read(resourceId, [metric]).catch(() => ({})), metric);
    const down = points.filter(({ average }) => average !== null && average !== undefined && average < 1).length;
    say(`${metric} of ${name}: ${points.length} minutes, below 1 in ${down}`);
    if (down === 0) continue;
    report({
      assumption: 'alert-vm-availability',
      verdict: 'proven',
      evidence: `${metric} of a VM was below 1 in ${down} of ${points.length} minutes.`,
    });
  }
  if (received === 0) throw new Error('The namespace counts no incoming message, although its hub holds records.');
}
