import type { AzureSimulator } from '../index.ts';
import { InvalidInput, type Kind, readFields } from '../read-fields.ts';
import { type Call, Refusal, type Route } from './route.ts';

const positive: Kind<number> = {
  expected: 'a number above 0',
  fits: (value): value is number => typeof value === 'number' && value > 0,
};
const kinds = {
  throughputUnits: positive,
  requestsPerMinute: positive,
  bytesPerMinute: positive,
  requestsPerSecond: positive,
};
type Limits = { readonly [K in keyof typeof kinds]?: number };

interface Limited {
  /** Those of the fields that limit it. */
  readonly by: readonly (keyof Limits)[];
  /** Null: it is limited no more. */
  readonly set: (azure: AzureSimulator, limits: Limits | null) => void;
}

const targets: Readonly<Record<string, Limited>> = {
  imds: {
    by: ['requestsPerSecond'],
    set: ({ imds }, limits) => imds.limitRate(limits?.requestsPerSecond ?? null),
  },
  eventHubs: {
    by: ['throughputUnits'],
    set: ({ eventHubs }, limits) =>
      eventHubs.limit(limits?.throughputUnits === undefined ? null : { throughputUnits: limits.throughputUnits }),
  },
  logAnalytics: {
    by: ['requestsPerMinute', 'bytesPerMinute'],
    set: ({ logAnalytics }, limits) => logAnalytics.limit(limits),
  },
};

function targetOf({ part }: Call): Limited {
  const name = part('target');
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target) return target;
  throw new Refusal(404, `"${name}" has no limit; expected one of ${Object.keys(targets).join(', ')}`);
}

/** How much of everything the services take, as a namespace, a rule or a host would: more is throttled. */
export function limitRoutes(azure: AzureSimulator): readonly Route[] {
  return [
    {
      method: 'PUT',
      path: '/limits/{target}',
      description:
        'imds {requestsPerSecond}, eventHubs {throughputUnits}, logAnalytics {requestsPerMinute?, bytesPerMinute?}: more is throttled',
      answer(call) {
        const { by, set } = targetOf(call);
        const own = Object.fromEntries(by.map((name) => [name, kinds[name]]));
        const limits: Limits = readFields('the body', call.body, own);
        if (Object.keys(limits).length === 0)
          throw new InvalidInput(`the body limits nothing; expected ${by.join(' or ')}`);
        set(azure, limits);
        return limits;
      },
    },
    {
      method: 'DELETE',
      path: '/limits/{target}',
      description: 'removes the limit',
      answer(call) {
        targetOf(call).set(azure, null);
        return {};
      },
    },
  ];
}
