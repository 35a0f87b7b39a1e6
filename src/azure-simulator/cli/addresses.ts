import type { AzureSimulator } from '../index.ts';

/** The addresses that `simulate --json` prints. `control`: URL of the control API. */
export function addresses({ imds, eventHubs, logAnalytics, caFile }: AzureSimulator, vm: string, control: string) {
  const { fullyQualifiedNamespace, customEndpoint, websocketEndpoint, plainPort, connectionString, eventHubName } =
    eventHubs;
  const { endpoint, ruleId, streamName } = logAnalytics;
  return {
    imds: imds.vmUrl(vm),
    eventHubs: {
      fullyQualifiedNamespace,
      customEndpoint,
      websocketEndpoint,
      plainPort,
      connectionString,
      eventHubName,
    },
    logAnalytics: { endpoint, ruleId, streamName, rowsUrl: `${control}/rows/${streamName}` },
    caFile,
    control,
  };
}

/** A configuration with which a bridge on this machine uses the simulator. */
export function bridgeConfiguration(azure: AzureSimulator, vm: string, stateDirectory: string) {
  const { imds, eventHubs, logAnalytics, caFile } = azure;
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = eventHubs;
  const { endpoint, ruleId, streamName } = logAnalytics;
  return {
    // The first answer is complete, so events that appear later are new.
    imds: { endpoint: imds.vmUrl(vm), firstTimeoutSeconds: 1 },
    stateDirectory,
    sinks: {
      eventHubs: { fullyQualifiedNamespace, eventHubName, customEndpoint },
      logAnalytics: { endpoint, ruleId, streamName },
      stdout: {},
    },
    tls: { caFile },
  };
}
