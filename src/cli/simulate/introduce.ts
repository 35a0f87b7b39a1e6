import type { AzureSimulator } from '../../azure-simulator/index.ts';
import { addresses, bridgeConfiguration } from './addresses.ts';
import { describeKeys, type Key } from './keys.ts';

export interface Introduced {
  /** The first VM. */
  readonly vm: string;
  /** URL of the control API. */
  readonly control: string;
  readonly keys: readonly Key[];
  /** What happens now, in a sentence. */
  readonly begins: string;
}

/** What a person needs to use the simulator. */
export function introduce(azure: AzureSimulator, { vm, control, keys, begins }: Introduced): string {
  const { imds, eventHubs, logAnalytics, caFile } = addresses(azure, vm, control);
  const { vms } = azure.imds;
  const others =
    vms.length > 1 ? `\n${indent}and ${vms.length - 1} more, to ${azure.imds.vmUrl(vms.at(-1)?.name ?? vm)}` : '';
  return `A local Azure is ready; Ctrl+C ends it.

  Instance metadata  ${imds}${others}
  Event Hubs         ${eventHubs.customEndpoint} as ${eventHubs.fullyQualifiedNamespace}, event hub ${eventHubs.eventHubName}
${indent}${eventHubs.websocketEndpoint} (WebSockets)
${indent}${eventHubs.connectionString}
  Logs Ingestion     ${logAnalytics.endpoint}, rule ${logAnalytics.ruleId}, stream ${logAnalytics.streamName}
  Rows of the table  ${logAnalytics.rowsUrl}
  Control            ${control} lists what it can do
  Its authority      ${caFile}

A bridge that uses it; save this as bridge.json and start it with: scheduled-events-bridge run --config bridge.json

${JSON.stringify(bridgeConfiguration(azure, vm, './bridge-state'), null, 2)}

Other clients of Azure, infra/examples/subscriber.ts among them, use it with these variables:

  AZURE_POD_IDENTITY_AUTHORITY_HOST=${azure.imds.url}
  NODE_EXTRA_CA_CERTS=${caFile}
  SSL_CERT_FILE=${caFile}
  REQUESTS_CA_BUNDLE=${caFile}
  EVENT_HUBS_NAMESPACE=${eventHubs.fullyQualifiedNamespace}
  EVENT_HUBS_CUSTOM_ENDPOINT=${eventHubs.customEndpoint}
  EVENT_HUB_NAME=${eventHubs.eventHubName}

${keys.length > 0 ? `${describeKeys(keys)}\n\n` : ''}${begins}

`;
}

const indent = ' '.repeat(21);
