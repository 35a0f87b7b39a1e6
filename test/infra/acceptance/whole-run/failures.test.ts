import { describe, expect, test } from 'vitest';
import { whyNoAzureCli } from '../../../azure-cli/azure-cli.ts';
import type { Interceptor } from '../az-stand-in/azure.ts';
import { failDeployments } from '../az-stand-in/replies/deployments.ts';
import { refused } from '../az-stand-in/reply.ts';
import type { AzureFault } from '../az-stand-in/world.ts';
import { type Subscription, useAzureCli } from './run.ts';

const missing = whyNoAzureCli();
if (missing !== null)
  console.warn(`  skipped: whole acceptance runs (${missing}); test/azure-cli/prepare fetches the Azure CLI`);

const outcomeOf = (subscription: Subscription, id: string) =>
  subscription.report().steps.find((step) => step.id === id)?.outcome;

/** Refuses requests of this kind, `times` times. */
function refusing(kind: RegExp, status: number, fault: AzureFault, times = Number.POSITIVE_INFINITY): Interceptor {
  let left = times;
  return ({ method, url }) => {
    if (!kind.test(`${method} ${url.pathname}`) || left === 0) return null;
    left -= 1;
    return refused(status, fault);
  };
}

const denied = (action: string): AzureFault => ({
  code: 'AuthorizationFailed',
  message: `The client 'user@example.com' does not have authorization to perform action '${action}' over scope '/subscriptions/11111111-2222-4333-8444-555555555555' or the scope is invalid.`,
});

/** A step that Azure refuses. */
interface Case {
  readonly step: string;
  readonly why: string;
  readonly plant: (subscription: Subscription) => void;
  /** What the report says of the step. */
  readonly says: RegExp;
  readonly skipped: readonly string[];
}

const intercepting =
  (interceptor: () => Interceptor): Case['plant'] =>
  ({ azure }) =>
    void azure.intercept(interceptor());

const cases: readonly Case[] = [
  {
    step: 'providers',
    why: 'the account may not register',
    plant: intercepting(() => refusing(/\/register$/, 403, denied('Microsoft.AlertsManagement/register/action'))),
    says: /AuthorizationFailed/,
    skipped: ['groups', 'network'],
  },
  {
    step: 'rights',
    why: 'the account is only a reader',
    plant: intercepting(
      () =>
        ({ url }) =>
          url.pathname.endsWith('/Microsoft.Authorization/permissions')
            ? { status: 200, body: { value: [{ actions: ['*/read'], notActions: [] }] } }
            : null,
    ),
    says: /may not do Microsoft\.Resources.*assign it Contributor/,
    skipped: ['groups', 'network'],
  },
  {
    step: 'groups',
    why: 'a policy denies the region',
    plant: intercepting(() =>
      refusing(/^PUT .*-machines$/, 403, {
        code: 'RequestDisallowedByPolicy',
        message: "Resource 'rg' was disallowed by policy.",
      }),
    ),
    says: /RequestDisallowedByPolicy: Resource 'rg' was disallowed by policy/,
    skipped: ['network'],
  },
  {
    step: 'network',
    why: 'the quota of public addresses is used up',
    plant: intercepting(() =>
      refusing(/^PUT .*\/publicIPAddresses\//i, 400, {
        code: 'PublicIPCountLimitReached',
        message: 'Cannot create more than 10 public IP addresses for this subscription in this region.',
      }),
    ),
    says: /PublicIPCountLimitReached: Cannot create more than 10/,
    skipped: [],
  },
];

describe.skipIf(missing !== null)('a run whose step Azure refuses', { concurrent: true }, () => {
  const subscribe = useAzureCli();

  test.for(cases)(
    'reports $step, skips what needs it and removes everything: $why',
    async ({ step, plant, says, skipped }, context) => {
      const subscription = await subscribe(context);
      plant(subscription);
      const run = subscription.begin('--only', 'network');
      expect([await run.exitCode, run.output()]).toEqual([4, expect.stringContaining(`${step}: failed: `)]);
      expect(outcomeOf(subscription, step)).toEqual({ result: 'failed', message: expect.stringMatching(says) });
      for (const id of skipped) expect(outcomeOf(subscription, id)).toMatchObject({ result: 'skipped' });
      expect(subscription.report().cleanUp).toEqual({ state: 'done', left: [] });
      expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
    },
  );

  test('does not begin when the login has expired, and says to log in', async (context) => {
    const subscription = await subscribe(context);
    subscription.azure.intercept(({ url }) =>
      url.pathname.endsWith('/oauth2/v2.0/token')
        ? {
            status: 400,
            body: {
              error: 'invalid_grant',
              error_description: 'AADSTS700082: The refresh token has expired due to inactivity.',
              error_codes: [700082],
            },
          }
        : null,
    );
    const run = subscription.begin();
    expect([await run.exitCode, run.output()]).toEqual([3, expect.stringMatching(/AADSTS700082/)]);
  });

  test('succeeds when Azure throttles a request three times', async (context) => {
    const subscription = await subscribe(context);
    const fault = { code: 'TooManyRequests', message: 'The request was throttled.' };
    subscription.azure.intercept(refusing(/^PUT .*\/natGateways\//i, 429, fault, 3));
    const run = subscription.begin('--only', 'network');
    expect([await run.exitCode, run.output()]).toEqual([0, expect.stringContaining('5 of 5 steps succeeded')]);
    expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
  });

  test('names the resource that a deployment could not create, and removes those that it did', async (context) => {
    const subscription = await subscribe(context);
    failDeployments(subscription.azure.world, ({ type }) =>
      type === 'Microsoft.OperationalInsights/workspaces'
        ? { code: 'QuotaExceeded', message: 'The subscription has 100 workspaces.' }
        : null,
    );
    const run = subscription.begin('--only', 'platform-again');
    expect([await run.exitCode, run.output()]).toEqual([4, expect.stringContaining('platform: failed: ')]);
    expect(outcomeOf(subscription, 'platform')).toEqual({
      result: 'failed',
      message: expect.stringMatching(
        /Microsoft\.OperationalInsights\/workspaces\/.*: QuotaExceeded: The subscription has/,
      ),
    });
    expect(outcomeOf(subscription, 'platform-again')).toEqual({ result: 'skipped', because: 'platform' });
    expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
  });

  test('tries the next size when the region has no VM of the first', async (context) => {
    const subscription = await subscribe(context);
    failDeployments(subscription.azure.world, ({ type, properties }) => {
      const { vmSize } = (properties.hardwareProfile ?? {}) as { vmSize?: string };
      return type === 'Microsoft.Compute/virtualMachines' && vmSize === 'Standard_B2s_v2'
        ? { code: 'SkuNotAvailable', message: 'The requested VM size is currently not available in location.' }
        : null;
    });
    const run = subscription.begin('--only', 'vm');
    expect([await run.exitCode, run.output()]).toEqual([
      0,
      expect.stringContaining('vm: Azure has no room for Standard_B2s_v2; trying '),
    ]);
    expect([subscription.left(), subscription.azure.unanswered]).toEqual([[], []]);
  });
});
