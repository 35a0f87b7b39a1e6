import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plural } from '../../../src/terminal/styled-text.ts';
import { atATime } from '../at-a-time.ts';
import { AzError } from '../az.ts';
import type { Step, StepContext, StepOptions } from '../step.ts';
import {
  buildParameters,
  buildTemplate,
  lintTemplate,
  listComputeAliases,
  listComputeUsage,
  listPermissions,
  listProviders,
  listSizes,
  registerProvider,
  showAccount,
  showBicepVersion,
  showServicePrincipal,
  showSignedInUser,
  showVersion,
} from './commands.ts';
import type { Found, LoginFound } from './found.ts';
import { free } from './prices.ts';
import { missingActions, type Permission } from './rights.ts';
import { coresOf, describeQuota, fleetOf, type Size, sizesFor, type Usage } from './sizes.ts';
import { root } from './tools.ts';

const readOnly = {
  phase: 'prepare',
  creates: [],
  rights: ['Reader on the subscription'],
  cost: free('only reads'),
} as const;

/** `infra/deploy.md` names both. */
const oldest = { cli: '2.68.0', bicep: '0.34.1' } as const;

/** Whether a version is at least another, by its first three numbers. */
export function isAtLeast(version: string, minimum: string): boolean {
  const [have, want] = [version, minimum].map((one) => one.split('.').map((part) => Number.parseInt(part, 10) || 0));
  for (const index of [0, 1, 2]) {
    const difference = (have?.[index] ?? 0) - (want?.[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** https://learn.microsoft.com/cli/azure/account#az-account-show */
interface Account {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly tenantId: string;
  readonly environmentName: string;
  readonly user: { readonly name: string; readonly type: string };
}

const login: Step = {
  ...readOnly,
  id: 'login',
  title: 'check the Azure CLI, Bicep, the subscription and the account',
  rights: [
    'Reader on the subscription',
    'Directory Readers in Microsoft Entra ID, or the permission of every member to read itself',
  ],
  needs: [],
  minutes: 1,
  proves: [],
  commands: (run) => [showVersion(), showBicepVersion(), showAccount(run), showSignedInUser()],
  run: async ({ az, run, found, say }) => {
    const versions = (await az.call(showVersion())) as Readonly<Record<string, unknown>>;
    const cli = String(versions['azure-cli']);
    if (!isAtLeast(cli, oldest.cli)) {
      throw new Error(`The Azure CLI is version ${cli}, but ${oldest.cli} or newer is needed: upgrade it.`);
    }
    const bicep = /\d+\.\d+\.\d+/.exec(String(await az.call(showBicepVersion())))?.[0] ?? 'unknown';
    if (!isAtLeast(bicep, oldest.bicep)) {
      throw new Error(`Bicep is version ${bicep}, but ${oldest.bicep} or newer is needed: upgrade it.`);
    }
    const account = (await az.call(showAccount(run))) as Account;
    if (account.id.toLowerCase() !== run.subscription.toLowerCase()) {
      throw new Error(`The Azure CLI shows subscription ${account.id} instead of ${run.subscription}.`);
    }
    if (account.state !== 'Enabled') throw new Error(`The subscription ${account.name} is ${account.state}.`);
    const isUser = account.user.type === 'user';
    const principal = (await az.call(isUser ? showSignedInUser() : showServicePrincipal(account.user.name))) as {
      id: string;
    };
    found.set('login', {
      tenantId: account.tenantId,
      subscriptionName: account.name,
      principalId: principal.id,
      principalType: isUser ? 'User' : 'ServicePrincipal',
    } satisfies LoginFound);
    say(
      `Azure CLI ${cli}, Bicep ${bicep}; ${account.user.name} in subscription ${account.name} (${account.environmentName})`,
    );
  },
};

/** Of every resource that the run creates. */
const neededProviders = [
  'Microsoft.AlertsManagement',
  'Microsoft.Compute',
  'Microsoft.EventHub',
  'Microsoft.Insights',
  'Microsoft.ManagedIdentity',
  'Microsoft.Network',
  'Microsoft.OperationalInsights',
  'Microsoft.Storage',
] as const;

const providers: Step = {
  id: 'providers',
  title: 'register the resource providers that are missing',
  phase: 'prepare',
  // Otherwise Azure would refuse the registration, and say less.
  needs: ['login', 'rights'],
  creates: ['registrations of resource providers, which stay and cost nothing'],
  rights: ['Contributor on the subscription'],
  cost: free('registrations are free'),
  minutes: 3,
  proves: [],
  commands: (run) => [listProviders(run)],
  run: async ({ az, run, say }) => {
    const known = (await az.call(listProviders(run))) as readonly { readonly name: string; readonly state: string }[];
    const isRegistered = (name: string): boolean =>
      known.some((one) => one.name.toLowerCase() === name.toLowerCase() && one.state === 'Registered');
    const missing = neededProviders.filter((name) => !isRegistered(name));
    for (const name of missing) {
      say(`registering ${name}; the registration stays after the run`);
      await az.call(registerProvider(run, name));
    }
    say(missing.length === 0 ? 'all resource providers are registered' : `registered: ${missing.join(', ')}`);
  },
};

const quota = (options: StepOptions): Step => ({
  ...readOnly,
  id: 'quota',
  title: 'choose sizes of VMs that the region and the quota allow',
  needs: ['login'],
  minutes: 1,
  proves: [],
  commands: (run) => [listComputeUsage(run, run.location), listSizes(run, run.location, 'Standard_')],
  run: async ({ az, run, found, save, say }) => {
    const usages = (await az.call(listComputeUsage(run, run.location))) as readonly Usage[];
    const offered = (await az.call(listSizes(run, run.location, 'Standard_'))) as readonly Size[];
    save('quota.json', `${JSON.stringify(usages, null, 2)}\n`);
    const fleet = fleetOf(options.windows);
    const chosen = sizesFor(fleet, offered, usages);
    found.set('quota', chosen);
    say(describeQuota(usages));
    const without = fleet.filter(({ role }) => chosen[role]?.length === 0).map(({ role }) => role);
    if (without.length > 0) say(`no size has enough cores left for: ${without.join(', ')}; their steps will fail`);
    if (without.includes('single')) {
      throw new Error(
        `No size is available in ${run.location} for a first VM (${describeQuota(usages)}): request quota for ${coresOf(fleet)} cores, or name another region.`,
      );
    }
  },
});

const rights: Step = {
  ...readOnly,
  id: 'rights',
  title: 'check what the account may do in the subscription',
  needs: ['login'],
  minutes: 1,
  proves: [],
  commands: (run) => [listPermissions(run)],
  run: async ({ az, run, save, say }) => {
    const value = await az.call(listPermissions(run)).then(
      (answer) => (answer as { readonly value: readonly Permission[] }).value,
      (error: unknown) => {
        if (!(error instanceof AzError)) throw error;
        say(`Azure does not say what the account may do, so that a later step may be refused: ${error.message}`);
        return null;
      },
    );
    if (value === null) return;
    const missing = missingActions(value);
    if (missing.length === 0) return say('the account may do everything that the run needs');
    const roles = [...new Set(missing.map(({ role }) => role))];
    const file = save('missing-rights.txt', missing.map(({ action }) => `${action}\n`).join(''));
    const others = missing.length === 1 ? '' : ` and ${plural(missing.length - 1, 'more action')} (${file})`;
    throw new Error(
      `The account may not do ${missing[0]?.action}${others} in the subscription: assign it ${roles.join(' and ')} there, and run this again.`,
    );
  },
};

const templateFiles = (): readonly string[] =>
  globSync(['infra/*.bicep', 'bicep/modules/*.bicep'], { cwd: root }).toSorted();
const parameterFiles = (): readonly string[] => globSync('infra/params/*.bicepparam', { cwd: root }).toSorted();

/** The part of SARIF that names what the linter found. https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html */
interface Sarif {
  readonly runs?: readonly {
    readonly results?: readonly { readonly ruleId?: string; readonly message?: { text?: string } }[];
  }[];
}

/** Each call takes seconds, and most of them one core. */
const compiledAtATime = 4;

const compile: Step = {
  ...readOnly,
  id: 'compile',
  title: 'compile every template, module and parameter file, and read the warnings',
  rights: [],
  needs: ['login'],
  minutes: 2,
  proves: ['bicep-compiles'],
  commands: () => [
    ...templateFiles().flatMap((file) => [buildTemplate(file), lintTemplate(file)]),
    ...parameterFiles().map((file) => buildParameters(file)),
  ],
  run: async ({ az, report, save, say }) => {
    const refused: string[] = [];
    const warnings: string[] = [];
    let isLinted = true;
    const call = async (file: string, args: readonly string[]): Promise<unknown> => {
      try {
        return await az.call(args);
      } catch (error) {
        if (!(error instanceof AzError)) throw error;
        refused.push(`${file}: ${error.message}`);
        return null;
      }
    };
    await atATime(compiledAtATime, templateFiles(), async (file) => {
      await call(file, buildTemplate(join(root, file)));
      const answer = (await call(file, lintTemplate(join(root, file)))) as Sarif | null | undefined;
      if (answer?.runs === undefined) isLinted = false;
      for (const { ruleId, message } of answer?.runs?.flatMap(({ results }) => results ?? []) ?? []) {
        warnings.push(`${file}: ${ruleId}: ${message?.text}`);
      }
    });
    await atATime(compiledAtATime, parameterFiles(), (file) => call(file, buildParameters(join(root, file))));
    // In the order of the files, whichever was compiled first.
    const problems = [...refused.toSorted(), ...warnings.toSorted()];
    const file = save('compile.txt', problems.map((line) => `${line}\n`).join(''));
    if (problems.length > 0 || isLinted) {
      report({
        assumption: 'bicep-compiles',
        verdict: problems.length === 0 ? 'proven' : 'refuted',
        evidence:
          problems.length === 0
            ? `Bicep compiles ${templateFiles().length} templates and ${parameterFiles().length} parameter files without a warning.`
            : `Bicep reports ${refused.length} errors and ${warnings.length} warnings, first ${problems[0]}`,
        file,
      });
    }
    if (refused.length > 0) throw new Error(`Bicep refuses ${refused.length} files, the first one ${problems[0]}`);
    say(`${templateFiles().length} templates and ${parameterFiles().length} parameter files compile`);
  },
};

/** The aliases that policies name, apart from types of resources and what Azure Policy defines itself. */
function aliasesInPolicies(): readonly string[] {
  const names = new Set<string>();
  for (const file of globSync('infra/policy/*.json', { cwd: root })) {
    const text = readFileSync(join(root, file), 'utf8');
    for (const [alias] of text.matchAll(/Microsoft\.Compute\/virtualMachine(ScaleSet)?s\/[\w.[\]*/]+/gi)) {
      if (!/\/VMapplications$/i.test(alias)) names.add(alias);
    }
  }
  return [...names].toSorted();
}

const aliases: Step = {
  ...readOnly,
  id: 'aliases',
  title: 'look up the aliases that the policies name',
  needs: ['login'],
  minutes: 1,
  proves: ['policy-aliases-scheduled-events', 'policy-windows-aliases'],
  commands: (run) => [listComputeAliases(run)],
  run: async ({ az, run, report, save, say }) => {
    const known = new Set(
      ((await az.call(listComputeAliases(run))) as readonly string[]).map((name) => name.toLowerCase()),
    );
    const named = aliasesInPolicies();
    const unknown = named.filter((alias) => !known.has(alias.toLowerCase()));
    const file = save('aliases.json', `${JSON.stringify({ named, unknown }, null, 2)}\n`);
    const verdictOn = (assumption: string, part: string): void => {
      const concerned = named.filter((alias) => alias.includes(part));
      const missing = unknown.filter((alias) => alias.includes(part));
      report({
        assumption,
        verdict: missing.length === 0 ? 'proven' : 'refuted',
        evidence:
          missing.length === 0
            ? `Microsoft.Compute has the aliases ${concerned.join(', ')}.`
            : `Microsoft.Compute has no alias ${missing.join(', ')}.`,
        file,
      });
    };
    verdictOn('policy-aliases-scheduled-events', 'scheduledEventsPolicy');
    verdictOn('policy-windows-aliases', 'windowsConfiguration');
    if (unknown.length > 0)
      throw new Error(`The policies name aliases that Azure does not have: ${unknown.join(', ')}.`);
    say(`Azure has all ${named.length} aliases that the policies name`);
  },
};

export const prepareSteps = (options: StepOptions): readonly Step[] => [
  login,
  rights,
  providers,
  quota(options),
  compile,
  aliases,
];

/** Sizes for a role; fails if the quota or the region has none. */
export function sizesOf({ found }: Pick<StepContext, 'found'>, role: keyof Found['quota']): readonly string[] {
  const sizes = (found.get('quota') as Partial<Found['quota']> | undefined)?.[role] ?? [];
  if (sizes.length === 0) throw new Error(`No size is available for it: see the step quota.`);
  return sizes;
}
