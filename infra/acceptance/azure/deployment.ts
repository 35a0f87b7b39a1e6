import { rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { plural } from '../../../src/terminal/styled-text.ts';
import { AzError } from '../az.ts';
import type { StepContext } from '../step.ts';
import { type Deployment, deploy, listFailedOperations, whatIf } from './commands.ts';
import { root } from './tools.ts';

/** A template with the values of its parameters. */
export interface TemplateDeployment {
  /** Of the deployment, and of the files with its parameters. */
  readonly name: string;
  readonly scope: Deployment['scope'];
  /** From the root of the repository, or an absolute path. */
  readonly template: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Parameters that are kept only while the deployment is carried out. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** A resource that could not be deployed. */
export interface DeploymentFailure {
  /** Type and name: `Microsoft.Compute/virtualMachines/vm-1`. */
  readonly target: string;
  readonly code: string;
  readonly message: string;
}

/** A deployment that failed, with what Azure says of each resource instead of `DeploymentFailed`. */
export class DeploymentError extends Error {
  override readonly name = 'DeploymentError';
  readonly failures: readonly DeploymentFailure[];

  constructor(deployment: string, failures: readonly DeploymentFailure[]) {
    super(
      `The deployment ${deployment} failed: ${failures.map(({ target, code, message }) => `${target}: ${code}: ${message}`).join('; ')}`,
    );
    this.failures = failures;
  }
}

/** Whether Azure says that something does not exist. */
export const isNotFound = (error: unknown): boolean => error instanceof AzError && /NotFound/i.test(error.code ?? '');

const parameterFile = (values: Readonly<Record<string, unknown>>): string =>
  JSON.stringify(
    {
      $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#',
      contentVersion: '1.0.0.0',
      parameters: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }])),
    },
    null,
    2,
  );

type Context = Pick<StepContext, 'run' | 'az' | 'save' | 'willCreate' | 'signal'>;

/** Writes the parameter files, carries out an action with the deployment, and removes the file with secrets. */
async function withFiles<T>(
  { run, save }: Context,
  { name, scope, template, parameters, secrets }: TemplateDeployment,
  action: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  const file = join(run.folder, save(`${name}.parameters.json`, parameterFile(parameters)));
  const secretsFile = join(run.folder, `${name}.secrets.json`);
  try {
    if (secrets !== undefined) writeFileSync(secretsFile, parameterFile(secrets), { mode: 0o600 });
    const parameterFiles = secrets === undefined ? [file] : [file, secretsFile];
    return await action({ name, scope, templateFile: resolve(root, template), parameterFiles });
  } finally {
    rmSync(secretsFile, { force: true });
  }
}

/** Deploys a template, and returns its outputs. Rejects with a `DeploymentError` if a resource could not be deployed. */
export function deployTemplate(
  context: Context,
  template: TemplateDeployment,
): Promise<Readonly<Record<string, unknown>>> {
  return withFiles(context, template, async (deployment) => {
    if ('location' in deployment.scope) context.willCreate({ kind: 'deployment', name: deployment.name });
    try {
      const answer = (await context.az.call(deploy(context.run, deployment), {
        timeoutMinutes: 60,
      })) as DeploymentAnswer;
      return Object.fromEntries(
        Object.entries(answer.properties.outputs ?? {}).map(([name, { value }]) => [name, value]),
      );
    } catch (error) {
      if (!(error instanceof AzError) || context.signal.aborted) throw error;
      const group = 'group' in deployment.scope ? deployment.scope.group : null;
      const failures = await failuresOf(context, { name: deployment.name, group }, 0);
      if (failures.length === 0) throw error;
      throw new DeploymentError(deployment.name, failures);
    }
  });
}

/** https://learn.microsoft.com/rest/api/resources/deployments/get#deploymentextended */
interface DeploymentAnswer {
  readonly properties: { readonly outputs?: Readonly<Record<string, { readonly value: unknown }>> };
}

/** https://learn.microsoft.com/rest/api/resources/deployment-operations/list#deploymentoperation */
interface FailedOperation {
  readonly target: { readonly id: string; readonly resourceType: string; readonly resourceName: string } | null;
  readonly status: { readonly error?: ErrorDetail } | null;
}

/** https://learn.microsoft.com/rest/api/resources/deployment-operations/list#errorresponse */
interface ErrorDetail {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly ErrorDetail[] | null;
}

/** Templates of this repository are at most this deep: `main.bicep`, `content.bicep`, a module. */
const deepest = 4;

/** What failed in a deployment and in the deployments of its modules. Empty if Azure does not say, as before the deployment began. */
async function failuresOf(
  context: Context,
  deployment: { readonly name: string; readonly group: string | null },
  depth: number,
): Promise<readonly DeploymentFailure[]> {
  let operations: readonly FailedOperation[];
  try {
    operations = (await context.az.call(listFailedOperations(context.run, deployment))) as readonly FailedOperation[];
  } catch (error) {
    // The template was refused as a whole: there is no deployment.
    if (error instanceof AzError) return [];
    throw error;
  }
  const failures: DeploymentFailure[] = [];
  for (const { target, status } of operations) {
    const nested =
      target?.resourceType === 'Microsoft.Resources/deployments' && depth < deepest
        ? await failuresOf(context, { name: target.resourceName, group: groupIn(target.id) }, depth + 1)
        : [];
    if (nested.length > 0) failures.push(...nested);
    else {
      const named = target === null ? deployment.name : `${target.resourceType}/${target.resourceName}`;
      failures.push(...causesOf(status?.error ?? {}).map((cause) => ({ target: named, ...cause })));
    }
  }
  return failures;
}

const groupIn = (resourceId: string): string | null => /\/resourceGroups\/([^/]+)\//i.exec(resourceId)?.[1] ?? null;

/** The innermost errors: those around them say only that something failed. */
function causesOf(error: ErrorDetail): readonly { readonly code: string; readonly message: string }[] {
  const inner = (error.details ?? []).flatMap(causesOf);
  if (inner.length > 0) return inner;
  const message = (error.message ?? 'Azure gives no message').replace(/\s+/g, ' ').trim();
  return [{ code: error.code ?? 'Unknown', message }];
}

/** https://learn.microsoft.com/rest/api/resources/deployments/what-if#whatifchange */
interface WhatIfChange {
  readonly resourceId: string;
  readonly changeType: string;
  readonly delta?: readonly PropertyChange[] | null;
  readonly unsupportedReason?: string | null;
}
/** What it could not evaluate, such as a module with a parameter that is an output of another: none of its resources is among the changes. */
interface WhatIfDiagnostic {
  readonly code: string;
  readonly message: string;
  /** Resource id. */
  readonly target?: string | null;
}
interface PropertyChange {
  readonly path: string;
  readonly propertyChangeType: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly children?: readonly PropertyChange[] | null;
}

export interface WhatIfResult {
  /** A line for each resource that would be created, changed or deleted. */
  readonly changes: readonly string[];
  /** A line for each resource of which only such properties differ as what-if always shows. */
  readonly noise: readonly string[];
  /** How many resources it compared and found equal. */
  readonly unchanged: number;
  /** A line for each resource of which what-if cannot say it, and for each part of the template that it did not evaluate. */
  readonly unknown: readonly string[];
  /** The answer of Azure, in the folder of the run. */
  readonly file: string;
}

/** Asks Azure what a deployment would change, and keeps the answer in the folder of the run. */
export function whatIfOf(context: Context, template: TemplateDeployment, attempt: string): Promise<WhatIfResult> {
  return withFiles(context, template, async (deployment) => {
    const answer = (await context.az.call(whatIf(context.run, deployment))) as {
      readonly changes?: readonly WhatIfChange[] | null;
      /** Changes that depend on a condition which is not known before. */
      readonly potentialChanges?: readonly WhatIfChange[] | null;
      readonly diagnostics?: readonly WhatIfDiagnostic[] | null;
    };
    const file = context.save(`${template.name}.what-if-${attempt}.json`, `${JSON.stringify(answer, null, 2)}\n`);
    const changes = answer.changes ?? [];
    const changed = changes.filter(({ changeType }) => !['NoChange', 'Ignore', 'Unsupported'].includes(changeType));
    const described = (change: WhatIfChange): string =>
      `${change.changeType} ${shortened(change.resourceId)}${propertiesIn(change)}`;
    return {
      changes: changed.filter((change) => !isNoise(change)).map(described),
      noise: changed.filter(isNoise).map(described),
      unchanged: changes.filter(({ changeType }) => changeType === 'NoChange').length,
      unknown: [
        ...[...changes, ...(answer.potentialChanges ?? [])]
          .filter(({ changeType }) => changeType === 'Unsupported')
          .map(
            ({ resourceId, unsupportedReason }) =>
              `${shortened(resourceId)}: ${unsupportedReason ?? 'no reason given'}`,
          ),
        ...(answer.potentialChanges ?? [])
          .filter(({ changeType }) => changeType !== 'Unsupported')
          .map((change) => `${described(change)}, which may be deployed or not`),
        ...(answer.diagnostics ?? []).map(
          ({ code, message, target }) => `${shortened(target ?? template.template)}: ${code}: ${message}`,
        ),
      ],
      file,
    };
  });
}

/**
 * Whether what-if shows a change that is none: of properties that Azure has set and the template does not name, that have no effect, or whose value
 * it cannot compute before the deployment.
 * https://learn.microsoft.com/azure/azure-resource-manager/bicep/deploy-what-if#see-results
 */
const isNoise = ({ changeType, delta }: WhatIfChange): boolean =>
  changeType === 'Modify' && (delta ?? []).length > 0 && (delta ?? []).every(isNoiseIn);

function isNoiseIn({ propertyChangeType, after, children }: PropertyChange): boolean {
  if (children && children.length > 0) return children.every(isNoiseIn);
  // An expression of the template stands for a value that is not known before.
  const isExpression = typeof after === 'string' && /^\[.*\]$/s.test(after);
  return propertyChangeType === 'NoEffect' || propertyChangeType === 'Delete' || isExpression;
}

/** Without the subscription and the group. */
const shortened = (resourceId: string): string => resourceId.replace(/^.*\/providers\//i, '');

function propertiesIn({ delta }: WhatIfChange): string {
  const paths = (delta ?? []).flatMap((one) => pathsIn(one, ''));
  return paths.length === 0 ? '' : ` (${paths.join(', ')})`;
}

function pathsIn({ path, children }: PropertyChange, parent: string): readonly string[] {
  const here = parent === '' ? path : `${parent}.${path}`;
  return children && children.length > 0 ? children.flatMap((child) => pathsIn(child, here)) : [here];
}

/** What-if after a deployment: another one must change nothing. What remains is named in the report. */
export async function previewAgain(
  context: Context & Pick<StepContext, 'report' | 'say'>,
  template: TemplateDeployment,
): Promise<void> {
  const { changes, noise, unchanged, unknown, file } = await whatIfOf(context, template, 'after');
  for (const line of noise) context.say(`what-if after ${template.name} shows what is no change: ${line}`);
  for (const line of unknown) context.say(`what-if after ${template.name} cannot show ${line}`);
  // Of a module that it cannot evaluate, what-if says nothing, or only that.
  if (changes.length + noise.length + unchanged === 0)
    return context.say(`what-if after ${template.name} has compared nothing`);
  context.report({
    assumption: 'bicep-idempotent',
    verdict: changes.length === 0 ? 'proven' : 'refuted',
    evidence:
      changes.length === 0
        ? `After the deployment of ${template.template}, what-if finds ${plural(unchanged, 'resource')} unchanged, ${noise.length} that differ only in properties that Azure has set or that it cannot compute, and ${unknown.length} that it cannot evaluate.`
        : `After the deployment of ${template.template}, what-if shows ${plural(changes.length, 'change')}: ${changes.join('; ')}.`,
    file,
  });
}
