import type { AzureSimulator, StoredEvent } from '../index.ts';
import { number, readFields, trueOrFalse } from '../read-fields.ts';
import { findScenario, type Scenario, scenarios } from '../scenarios/index.ts';
import { readVm } from '../vm-fields.ts';
import { eventRoutes } from './events.ts';
import { faultRoutes } from './faults.ts';
import { limitRoutes } from './limits.ts';
import { type Call, Refusal, type Route } from './route.ts';
import { scenarioSeconds } from './scenario-length.ts';
import { type ControlServer, startControlServer } from './server.ts';

export interface ControlOptions {
  /** Default: whatever is free. */
  readonly port?: number;
  /** Default: loopback. */
  readonly host?: string;
  /** Plays a scenario from now on, without waiting for its end. Speed undefined: the scenario's own. */
  readonly play: (scenario: Scenario, options: { readonly speed?: number; readonly vms?: readonly string[] }) => void;
  /** What a client needs to use the simulator, for `GET /addresses`. */
  readonly addresses: (control: string) => unknown;
}

/**
 * An HTTP interface with which a test in any language steers the simulator while it runs, and reads what
 * arrived. Faults that ask a function cannot be set through it.
 */
export function startControl(
  azure: AzureSimulator,
  { play, addresses, ...where }: ControlOptions,
): Promise<ControlServer> {
  const routes = (url: string): readonly Route[] => {
    const rows = [
      {
        method: 'GET',
        path: '/addresses',
        description: 'the addresses of everything',
        answer: () => addresses(url),
      } as const,
      ...metadataRoutes(azure),
      ...eventRoutes(azure),
      ...scenarioRoutes(play),
      ...faultRoutes(azure),
      ...limitRoutes(azure),
      ...hubRoutes(azure),
      ...tableRoutes(azure),
    ];
    const list = rows.map(({ method, path, description }) => ({ method, path, description }));
    return [{ method: 'GET', path: '/', description: 'all calls', answer: () => list }, ...rows];
  };
  return startControlServer(routes, where);
}

function metadataRoutes(azure: AzureSimulator): readonly Route[] {
  const { imds } = azure;
  const vms = () => imds.vms.map((vm) => ({ ...vm, imds: imds.vmUrl(vm.name), polls: imds.polls[vm.name] ?? 0 }));
  return [
    { method: 'GET', path: '/document', description: 'the present document', answer: () => imds.document },
    { method: 'GET', path: '/issued', description: 'every change of the document so far', answer: () => imds.issued },
    { method: 'GET', path: '/approvals', description: 'every approval so far', answer: () => imds.approvals },
    { method: 'GET', path: '/vms', description: 'the VMs, their endpoints and how often each polled', answer: vms },
    {
      method: 'POST',
      path: '/vms',
      description: '{name, …} as GET /vms shows it: adds a VM, or replaces the one of that name',
      answer({ body }) {
        const vm = imds.addVm(readVm('the body', body));
        return { ...vm, imds: imds.vmUrl(vm.name) };
      },
    },
    {
      method: 'POST',
      path: '/switch-off',
      description: '{firstCallSeconds?}: as after a day without a poll; the next first answer takes that long',
      answer({ body }) {
        const { firstCallSeconds = 0 } = readFields('the body', body ?? {}, {
          firstCallSeconds: number('a number of seconds', 0, 600),
        });
        imds.firstCallDelay(1000 * firstCallSeconds);
        imds.switchOff();
        return { firstCallSeconds };
      },
    },
    {
      method: 'GET',
      path: '/errors',
      description: 'internal errors of the simulator; should be empty',
      answer: () => azure.errors.map((error) => error.stack ?? error.message),
    },
  ];
}

function scenarioRoutes(play: ControlOptions['play']): readonly Route[] {
  const list = () =>
    scenarios.map((scenario) => ({
      name: scenario.name,
      description: scenario.description,
      vms: scenario.vms?.length ?? 1,
      realSeconds: scenarioSeconds(scenario, { speed: 1 }),
      demoSpeed: scenario.demoSpeed,
    }));
  return [
    { method: 'GET', path: '/scenarios', description: 'all scenarios', answer: list },
    {
      method: 'POST',
      path: '/scenarios/{name}',
      description: '?speed=1 as Azure, default: its own; ?vms=web_0,web_1 the VMs: plays it, in parallel to others',
      answer(call) {
        const scenario = findScenario(call.part('name'));
        if (scenario === undefined) {
          throw new Refusal(404, `There is no scenario "${call.part('name')}"; GET /scenarios lists all`);
        }
        const options = readPlay(call);
        play(scenario, options);
        return { playing: scenario.name, speed: options.speed ?? scenario.demoSpeed };
      },
    },
  ];
}

function readPlay({ query }: Call): { speed?: number; vms?: readonly string[] } {
  const given = query.get('speed');
  const speed = Number(given);
  if (given !== null && !(speed >= 0.1 && speed <= 100_000)) {
    throw new Refusal(400, `speed is "${given}"; expected a number from 0.1 to 100000`);
  }
  const vms = query
    .get('vms')
    ?.split(',')
    .filter((vm) => vm !== '');
  return { ...(given !== null && { speed }), ...(vms && { vms }) };
}

function hubRoutes({ eventHubs }: AzureSimulator): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/hub/events',
      description: 'what the event hub holds, in order of arrival',
      answer: () => eventHubs.events().map(asJson),
    },
    {
      method: 'POST',
      path: '/hub/pause',
      description: '{drop?}: the namespace refuses new connections, and with drop closes the open ones',
      async answer({ body }) {
        const { drop = false } = readFields('the body', body ?? {}, { drop: trueOrFalse });
        await eventHubs.pause({ drop });
        return { drop };
      },
    },
    {
      method: 'POST',
      path: '/hub/resume',
      description: 'it accepts connections again',
      async answer() {
        await eventHubs.resume();
        return {};
      },
    },
    {
      method: 'POST',
      path: '/hub/drop',
      description: 'closes the open connections',
      answer() {
        eventHubs.dropConnections();
        return {};
      },
    },
  ];
}

/** A body that is JSON is returned as JSON. */
function asJson({ raw: _, ...event }: StoredEvent): object {
  return { ...event, body: parsed(event.body.toString('utf8')) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function tableRoutes({ imds, logAnalytics }: AzureSimulator): readonly Route[] {
  const requests = () => ({
    scheduledevents: imds.requests('scheduledevents'),
    instance: imds.requests('instance'),
    token: imds.requests('token'),
    logAnalytics: logAnalytics.requests,
  });
  return [
    {
      method: 'GET',
      path: '/rows/{stream}',
      description: 'what the table behind a stream holds, in order of arrival',
      answer({ part }) {
        const stream = part('stream');
        const { streams } = logAnalytics;
        if (streams.includes(stream)) return logAnalytics.rows(stream);
        throw new Refusal(404, `The rule has no stream "${stream}"; there are ${streams.join(', ')}`);
      },
    },
    {
      method: 'GET',
      path: '/requests',
      description: 'requests so far: how many, and each one for the table',
      answer: requests,
    },
  ];
}
