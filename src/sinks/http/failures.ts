import { classify } from '../../azure/errors.ts';
import { rejected, retry } from '../../azure/failure.ts';
import type { Failure } from '../sink.ts';
import { destinationOf } from './config.ts';

const destination = destinationOf({
  url: 'https://x.example/events',
  mode: 'structured',
  headerFile: null,
  tokenScope: 'https://eventgrid.azure.net/.default',
  allowInsecure: false,
});
const statuses = [301, 400, 401, 402, 403, 404, 405, 407, 408, 410, 413, 415, 422, 429, 500, 503];

/** What this sink answers beyond the network's failures, for `infra/reference/failures.md`. */
export const failures: readonly Failure[] = [
  ...statuses.map((statusCode) => classify({ statusCode, message: '…' }, { ...destination, proxy: null })),
  rejected('too-large', 'batch-too-large', 'A request is over 1,000,000 bytes; retrying in smaller batches.'),
  retry(
    'configuration',
    'header-unreadable',
    'sinks.http.headerFile cannot be read (…): check that it is there and that the account of the service may read it.',
  ),
  retry(
    'configuration',
    'header-exposed',
    'sinks.http.headerFile is a secret, and others can read …: expected a file that they cannot read (chmod o-rwx …).',
  ),
  retry(
    'configuration',
    'header-malformed',
    'sinks.http.headerFile is no header: check that it has one line, "Name: value".',
  ),
];
