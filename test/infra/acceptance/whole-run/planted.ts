import { type Plan, planOf } from '../../../../infra/acceptance/plan.ts';
import type { Step } from '../../../../infra/acceptance/step.ts';
import { stepsOf } from '../../../../infra/acceptance/steps.ts';
import type { Interceptor } from '../az-stand-in/azure.ts';
import { refused } from '../az-stand-in/reply.ts';
import type { AzureFault } from '../az-stand-in/world.ts';

/** Every step of a run, in the order of the plan. */
export const everyStep: Plan['steps'] = planOf(stepsOf({ against: 'azure', windows: true })).steps;

const needsOf = new Map(everyStep.map(({ id, needs }) => [id, needs]));
const dependsOn = (id: string, other: string): boolean =>
  (needsOf.get(id) ?? []).some((need) => need === other || dependsOn(need, other));

/** Steps that are carried out before this one. */
export const beforeIt = ({ id }: Step): readonly Step[] => everyStep.filter((one) => dependsOn(id, one.id));
/** Steps that cannot be carried out without this one; those that need little else first. */
export const dependentsOf = ({ id }: Step): readonly Step[] =>
  everyStep
    .filter((one) => dependsOn(one.id, id))
    .toSorted((one, other) => beforeIt(one).length - beforeIt(other).length);

/** Steps whose calls of the CLI reach no service, and how their failure is tested. */
export const withoutRequests: Readonly<Record<string, string>> = {
  compile: 'it calls only Bicep: test/infra/acceptance/azure/prepare.test.ts has a file that Bicep refuses',
};

/** Steps that a refusal does not fail, and what the run says instead. */
export const tolerated: Readonly<Record<string, RegExp>> = {
  rights: /rights: Azure does not say what the account may do, so that a later step may be refused/,
};

interface Refusal {
  readonly status: number;
  readonly fault: AzureFault;
}

const denied: Refusal = {
  status: 403,
  fault: {
    code: 'AuthorizationFailed',
    message: 'The client does not have authorization to perform this action over this scope.',
  },
};
/** What Azure refuses requests with while it creates something. https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/common-deployment-errors */
const refusals: readonly Refusal[] = [
  denied,
  {
    status: 409,
    fault: {
      code: 'QuotaExceeded',
      message: 'Operation could not be completed as it results in exceeding approved quota.',
    },
  },
  {
    status: 409,
    fault: { code: 'AnotherOperationInProgress', message: 'Another operation on this resource is in progress.' },
  },
  { status: 429, fault: { code: 'TooManyRequests', message: 'The request was throttled.' } },
  { status: 503, fault: { code: 'ServiceUnavailable', message: 'The service is unavailable.' } },
];

/** The refusal that is planted in a step: in turn, so that every kind meets steps of every phase that creates something. */
export function refusalIn({ id, phase }: Step): Refusal {
  if (phase === 'events' || phase === 'read' || phase === 'refusals') return denied;
  const at = everyStep.findIndex((one) => one.id === id);
  return refusals[at % refusals.length] ?? denied;
}

/** How a report quotes the refusal: by its code or, of a request to Microsoft Graph, by its message. */
export const wordsOf = (step: Step): RegExp => {
  const { code, message } = refusalIn(step).fault;
  return new RegExp(`${code}|${RegExp.escape(message.replace(/\.$/, ''))}`);
};

/**
 * Refuses every request of these steps to Azure. Logins continue to work: Microsoft Entra ID refuses in a form of its own, of which the CLI quotes
 * only the status.
 */
export function refusing(steps: readonly Step[]): Interceptor {
  const planted = new Map(steps.map((step) => [step.id, refusalIn(step)]));
  return ({ step, url }) => {
    if (new URL(url).host === 'login.microsoftonline.com') return null;
    const refusal = planted.get(step);
    return refusal === undefined ? null : refused(refusal.status, refusal.fault);
  };
}
