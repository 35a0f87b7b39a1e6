import type { FleetUnderTest, Vm } from '../fleet/fleet-under-test.ts';

/** What goes wrong for some seconds of a soak. */
export interface SoakFault {
  readonly name: string;
  begin(fleet: FleetUnderTest, other: Vm): void | Promise<void>;
  end?(fleet: FleetUnderTest, other: Vm): void | Promise<void>;
}

const hub = (name: string, fault: Parameters<FleetUnderTest['azure']['eventHubs']['fault']>[0]): SoakFault => ({
  name: `Event Hubs: ${name}`,
  begin: ({ azure }) => azure.eventHubs.fault(fault),
  end: ({ azure }) => azure.eventHubs.fault(null),
});

const table = (name: string, fault: Parameters<FleetUnderTest['azure']['logAnalytics']['fault']>[0]): SoakFault => ({
  name: `Log Analytics: ${name}`,
  begin: ({ azure }) => azure.logAnalytics.fault(fault),
  end: ({ azure }) => azure.logAnalytics.fault(null),
});

const imds = (
  name: string,
  target: 'scheduledevents' | 'token',
  fault: Parameters<FleetUnderTest['azure']['imds']['fault']>[1],
): SoakFault => ({
  name: `IMDS: ${name}`,
  begin: ({ azure }) => azure.imds.fault(target, fault),
  end: ({ azure }) => azure.imds.fault(target, null),
});

/** All faults of a soak. Processes are killed and stopped only on the other VM: the first one is measured. */
export const soakFaults: readonly SoakFault[] = [
  hub('server busy', 'server-busy'),
  hub('connections are accepted and not served', 'mute'),
  hub('transfers are not settled', 'silent'),
  hub('connections are closed with an error', 'force-close'),
  hub('connections break after the transfer was stored', 'accept-then-drop'),
  hub('links are detached', 'detach'),
  hub('tokens are refused', 'unauthorized'),
  hub('answers are late', { delayMs: 2000 }),
  table('429', { status: 429 }),
  table('503', { status: 503 }),
  table('403', { status: 403 }),
  table('requests are not answered', 'hang'),
  table('connections are reset', 'reset'),
  table('connections are reset after the rows were stored', 'accept-then-reset'),
  imds('503', 'scheduledevents', { status: 503 }),
  imds('429', 'scheduledevents', { status: 429 }),
  imds('requests are not answered', 'scheduledevents', 'hang'),
  imds('connections are reset', 'scheduledevents', 'reset'),
  imds('documents are cut short', 'scheduledevents', 'truncated'),
  imds('tokens: 500', 'token', { status: 500 }),
  imds('tokens are not answered', 'token', 'hang'),
  { name: 'all tokens are revoked', begin: ({ azure }) => azure.revokeTokens() },
  {
    name: 'the other bridge is killed',
    async begin(fleet, other) {
      await fleet.kill(other);
      fleet.startBridge(other);
    },
  },
  {
    name: 'the other bridge is stopped for a while',
    begin: (_, { bridge }) => bridge?.kill('SIGSTOP'),
    end: (_, { bridge }) => bridge?.kill('SIGCONT'),
  },
];
