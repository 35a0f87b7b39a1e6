import type { AzureSimulator, EventHubsFault, ImdsFault, ImdsTarget, LogsFault } from '../index.ts';
import {
  InvalidInput,
  isObject,
  type Kind,
  name,
  number,
  readFields,
  text,
  texts,
  wholeNumber,
} from '../read-fields.ts';
import { type Call, Refusal, type Route } from './route.ts';

type Words<F> = Readonly<Record<Extract<F, string>, true>>;
/** Faults that are objects, by the field that they are known by. */
type Shapes = Readonly<Record<string, Readonly<Record<string, Kind<unknown>>>>>;

const status = { status: wholeNumber(200, 599), headers: texts, body: text };
const delayMs = { delayMs: number('a number of milliseconds', 0, 3_600_000) };

const imdsWords: Words<ImdsFault> = {
  hang: true,
  reset: true,
  empty: true,
  truncated: true,
  'cut-off': true,
  'not-json': true,
  huge: true,
  redirect: true,
  slow: true,
  'no-events': true,
  'no-incarnation': true,
  null: true,
};
const eventHubsWords: Words<EventHubsFault> = {
  unauthorized: true,
  'not-found': true,
  'server-busy': true,
  detach: true,
  'force-close': true,
  drop: true,
  'accept-then-drop': true,
  silent: true,
  mute: true,
};
const logsWords: Words<LogsFault> = {
  hang: true,
  reset: true,
  'accept-then-reset': true,
  endless: true,
  'gzip-bomb': true,
};

/** Sets a fault, or clears it with null. */
type SetFault = (azure: AzureSimulator, fault: unknown, times: number | undefined) => void;

const imdsTarget =
  (target: ImdsTarget): SetFault =>
  ({ imds }, fault, times) =>
    imds.fault(target, readFault<ImdsFault>(fault, imdsWords, { status, delayMs }), times);

const targets: Readonly<Record<string, SetFault>> = {
  scheduledevents: imdsTarget('scheduledevents'),
  instance: imdsTarget('instance'),
  token: imdsTarget('token'),
  eventHubs: ({ eventHubs }, fault, times) =>
    eventHubs.fault(
      readFault<EventHubsFault>(fault, eventHubsWords, {
        reject: { reject: name },
        closeOnToken: { closeOnToken: name },
        delayMs,
      }),
      times,
    ),
  logAnalytics: ({ logAnalytics }, fault, times) =>
    logAnalytics.fault(readFault<LogsFault>(fault, logsWords, { status, delayMs }), times),
};

function targetOf({ part }: Call): SetFault {
  const name = part('target');
  const target = Object.hasOwn(targets, name) ? targets[name] : undefined;
  if (target) return target;
  throw new Refusal(404, `"${name}" cannot fail; expected one of ${Object.keys(targets).join(', ')}`);
}

/** The faults that JSON can express; one with a function cannot be set from outside. */
export function faultRoutes(azure: AzureSimulator): readonly Route[] {
  return [
    {
      method: 'PUT',
      path: '/faults/{target}',
      description: `{fault, times?}: ${Object.keys(targets).join(', ')} fails until cleared, or this many times`,
      answer(call) {
        const set = targetOf(call);
        const { fault, times } = readFields('the body', call.body, {
          fault: anything,
          times: wholeNumber(1, 1_000_000),
        });
        if (fault === undefined || fault === null) throw new InvalidInput('the body has no fault; DELETE ends one');
        set(azure, fault, times);
        return { fault };
      },
    },
    {
      method: 'DELETE',
      path: '/faults/{target}',
      description: 'clears the fault',
      answer(call) {
        targetOf(call)(azure, null, undefined);
        return { fault: null };
      },
    },
  ];
}

const anything: Kind<unknown> = { expected: 'anything', fits: (_value): _value is unknown => true };

function readFault<F>(value: unknown, words: Words<F>, shapes: Shapes): F | null {
  if (value === null || (typeof value === 'string' && Object.hasOwn(words, value))) return value as F | null;
  const shape = isObject(value) ? Object.entries(shapes).find(([known]) => value[known] !== undefined)?.[1] : undefined;
  if (shape === undefined) {
    const objects = Object.keys(shapes).map((known) => `{"${known}": …}`);
    const known = [...Object.keys(words), ...objects].join(', ');
    throw new InvalidInput(`fault is ${JSON.stringify(value)}; expected one of ${known}`);
  }
  readFields('fault', value, shape);
  return value as F;
}
