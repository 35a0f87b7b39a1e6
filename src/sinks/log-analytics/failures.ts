import { classify } from '../../azure/errors.ts';
import { rejected } from '../../azure/failure.ts';
import type { Failure } from '../sink.ts';
import { destinationOf } from './config.ts';

const destination = destinationOf({
  endpoint: 'https://x.ingest.monitor.azure.com',
  ruleId: 'dcr-…',
  streamName: 'Custom-VmLifecycle_CL',
});
const statuses = [400, 401, 403, 404, 407, 408, 413, 429, 500, 503, 302];

/** What this sink answers beyond the network's failures, for `infra/reference/failures.md`. */
export const failures: readonly Failure[] = [
  ...statuses.map((statusCode) => classify({ statusCode, message: '…' }, { ...destination, proxy: null })),
  rejected('too-large', 'batch-too-large', 'A batch is over what one call takes; retrying in smaller batches.'),
];
