import { app } from '@azure/functions';
import { DefaultAzureCredential } from '@azure/identity';
import { ContainerClient } from '@azure/storage-blob';
import { createHandler } from './handler.ts';

const { STATE_CONTAINER: url = '' } = process.env;
if (url === '') throw new Error('Set STATE_CONTAINER to https://<account>.blob.core.windows.net/<container>.');
const container = new ContainerClient(url, new DefaultAzureCredential());

app.eventHub('onRecords', {
  connection: 'EVENT_HUBS', // EVENT_HUBS__fullyQualifiedNamespace: the managed identity reads
  eventHubName: '%EVENT_HUB_NAME%',
  consumerGroup: '%CONSUMER_GROUP%',
  cardinality: 'many',
  // Without a retry policy the trigger continues after a failed call, and its records are lost. -1: until it succeeds.
  retry: {
    strategy: 'exponentialBackoff',
    maxRetryCount: -1,
    minimumInterval: { seconds: 1 },
    maximumInterval: { seconds: 30 },
  },
  handler: createHandler(container, {
    // Your part. Both must be idempotent, and end well within functionTimeout.
    drain: (vm, { latest }) => console.log(`drain ${vm.name}: ${latest?.eventType}`),
    restore: (vm, { end }) => console.log(`restore ${vm.name}: ${end?.phase ?? 'is gone'}`),
  }),
});
