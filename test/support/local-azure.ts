import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { type BridgeCredential, createCredential } from '../../src/azure/credential.ts';
import { managedIdentityTokens } from '../../src/azure/token-source.ts';
import {
  type AzureSimulator,
  type AzureSimulatorOptions,
  startAzureSimulator,
} from '../../src/azure-simulator/index.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import type { EventHubsConfig } from '../../src/sinks/event-hubs/config.ts';
import type { LogAnalyticsConfig } from '../../src/sinks/log-analytics/config.ts';

/** The simulator, trusted by this process, with the credential and the settings that lead to it. Once a process: MSAL keeps its first token host. */
export interface LocalAzure {
  readonly azure: AzureSimulator;
  readonly credential: BridgeCredential;
  eventHubs(settings?: Partial<EventHubsConfig>): EventHubsConfig;
  logAnalytics(settings?: Partial<LogAnalyticsConfig>): LogAnalyticsConfig;
  close(): Promise<void>;
}

export async function startLocalAzure(options: AzureSimulatorOptions = {}): Promise<LocalAzure> {
  const azure = await startAzureSimulator(options);
  setDefaultCACertificates([...getCACertificates('default'), azure.ca]);
  process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST = azure.imds.url;
  const credential = createCredential({ source: managedIdentityTokens(null), clock: systemClock, log: silentLog });
  return {
    azure,
    credential,
    eventHubs: (settings = {}) => ({
      fullyQualifiedNamespace: azure.eventHubs.fullyQualifiedNamespace,
      connectionString: null,
      eventHubName: azure.eventHubs.eventHubName,
      customEndpoint: azure.eventHubs.customEndpoint,
      transport: 'amqp',
      idleCloseSeconds: 60,
      connectJitterSeconds: 0,
      ...settings,
    }),
    logAnalytics: (settings = {}) => ({
      endpoint: azure.logAnalytics.endpoint,
      ruleId: azure.logAnalytics.ruleId,
      streamName: azure.logAnalytics.streamName,
      ...settings,
    }),
    async close() {
      credential.close();
      await azure.close();
    },
  };
}
