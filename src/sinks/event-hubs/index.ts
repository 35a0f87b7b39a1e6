import type { SinkDescriptor } from '../descriptor.ts';
import { destinationOf, type EventHubsConfig, eventHubsScope, eventHubsSection, eventHubsShape } from './config.ts';
import { eventHubsFindings } from './findings.ts';

export const eventHubs: SinkDescriptor<'eventHubs', EventHubsConfig> = {
  key: 'eventHubs',
  name: eventHubsShape.name,
  section: eventHubsSection,
  label: 'Event Hubs',
  shape: () => eventHubsShape,
  isIsolated: true,
  destination: (config) => destinationOf(config).name,
  find: ({ eventId, recordId }) => `the message with the id ${recordId}; partition key ${eventId.toLowerCase()}`,
  refusals: ['unauthorized', 'not-found', 'disabled', 'network-refused', 'bad-address'],
  tokenScopes: ({ connectionString }) => (connectionString === null ? [eventHubsScope] : []),
  holdSeconds: ({ connectJitterSeconds }) => connectJitterSeconds,
  idleSeconds: ({ idleCloseSeconds }) => idleCloseSeconds,
  async open(config, options) {
    const { createEventHubsSink } = await import('./sink.ts');
    return createEventHubsSink({ config, ...options });
  },
  heartbeat: (config, settings) =>
    settings.eventHubs
      ? {
          name: destinationOf(config).name,
          open: async (options) => (await import('./heartbeat.ts')).createHubSender({ config, ...options }),
        }
      : null,
  check: {
    needsNetwork: true,
    findings: eventHubsFindings,
    exit: { code: 12, meaning: 'Event Hubs cannot be reached, or refuses requests' },
    run: async (config, context) => (await import('./check.ts')).checkEventHubs(config, context),
  },
};
