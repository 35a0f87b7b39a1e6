import { randomInt } from 'node:crypto';
import { join, resolve } from 'node:path';
import { closest } from '../../src/config/did-you-mean.ts';
import { type Az, AzError } from './az.ts';
import { showAccount, showBicepVersion, showCurrentAccount, showVersion } from './azure/commands.ts';
import { installBicep, listAccounts, listLocations, logIn, setAccount, shown } from './commands.ts';
import { Failure } from './exit-codes.ts';
import type { Run } from './step.ts';

/** Tag of everything that a run creates; its value is the id of the run. */
export const tagName = 'scheduled-events-bridge-acceptance';

/** How the names of the groups of a run begin. */
export const groupPrefix = (runId: string): string => `rg-seb-acceptance-${runId}-`;

/** A new id: short, because names of Azure are. */
export function newRunId(): string {
  const letters = 'abcdefghjkmnpqrstuvwxyz';
  const all = `${letters}23456789`;
  const pick = (from: string): string => from.charAt(randomInt(from.length));
  return pick(letters) + Array.from({ length: 5 }, () => pick(all)).join('');
}

/** What is named after a run. `folder` holds the folders of all runs. */
export function runNamed(id: string, place: { subscription: string; location: string; folder: string }): Run {
  return {
    id,
    subscription: place.subscription,
    location: place.location,
    folder: join(resolve(place.folder), id),
    tags: { [tagName]: id },
    groups: { platform: `${groupPrefix(id)}platform`, machines: `${groupPrefix(id)}machines` },
  };
}

/** The subscription that is meant, by its id. @throws Failure (notReady) that says what to do. */
export async function findSubscription(az: Az, nameOrId: string): Promise<string> {
  const account = (await az.call(showAccount({ subscription: nameOrId })).catch((error: unknown) => {
    throw new Failure('notReady', whyNoAccount(error, nameOrId));
  })) as { id: string; name: string; state: string; environmentName?: string };
  if (account.state !== 'Enabled') {
    throw new Failure(
      'notReady',
      `The subscription ${account.name} is ${account.state}, and nothing can be created in it.`,
    );
  }
  if (account.environmentName !== undefined && account.environmentName !== publicCloud) {
    throw new Failure(
      'notReady',
      `The subscription ${account.name} is in ${account.environmentName}; a run is written for ${publicCloud} only.`,
    );
  }
  return account.id;
}

/** Name of the public Azure in the CLI. Queries and tokens of a run use its addresses. */
const publicCloud = 'AzureCloud';

function whyNoAccount(error: unknown, nameOrId: string): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/az login|AADSTS|refresh token|No subscription found/i.test(message)) {
    return `The Azure CLI is not logged in: run ${shown(logIn())}. (${message})`;
  }
  if (error instanceof AzError && /doesn't exist|not found/i.test(message)) {
    return `The account that is logged in has no subscription ${nameOrId}: ${shown(listAccounts())} lists those that it has.`;
  }
  return `The Azure CLI cannot be used: ${message}`;
}

/** @throws Failure (notReady) for a region that the subscription does not have. */
export async function verifyLocation(az: Az, subscription: string, location: string): Promise<void> {
  const names = (await az.call(listLocations({ subscription }))) as readonly string[];
  if (names.includes(location)) return;
  const near = closest(location, names);
  const hint = near === undefined ? `It has ${names.join(', ')}.` : `Did you mean ${near}?`;
  throw new Failure('notReady', `The subscription has no region ${location}. ${hint}`);
}

/**
 * Commands that name no subscription, such as a query of a workspace, use the tenant of the current one.
 * @throws Failure (notReady) if that is another tenant than that of the subscription of the run
 */
export async function verifyTenant(az: Az, subscription: string): Promise<void> {
  const [wanted, current] = [await az.call(showAccount({ subscription })), await az.call(showCurrentAccount())] as {
    tenantId: string;
  }[];
  if (wanted?.tenantId === current?.tenantId) return;
  throw new Failure(
    'notReady',
    `The subscription is in another tenant than the current one of the Azure CLI: run ${shown(setAccount({ subscription }))}.`,
  );
}

/** Versions of what the run calls, for the report. */
export async function versionsOf(az: Az): Promise<Readonly<Record<string, string>>> {
  const versions = (await az.call(showVersion())) as Readonly<Record<string, string>>;
  const bicep = await az.call(showBicepVersion()).catch((error: unknown) => {
    if (!(error instanceof AzError)) throw error;
    throw new Failure('notReady', `Bicep cannot be used: run ${shown(installBicep())}. (${error.message})`);
  });
  return {
    'Azure CLI': versions['azure-cli'] ?? 'unknown',
    Bicep: /version (\S+)/.exec(String(bicep))?.[1] ?? 'unknown',
    'Node.js': process.versions.node,
  };
}
