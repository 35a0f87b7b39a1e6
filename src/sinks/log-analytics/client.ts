import type { HttpClient } from '@azure/core-rest-pipeline';
import type { TokenCredential } from '@azure/identity';
import { LogsIngestionClient } from '@azure/monitor-ingestion';
import { monitorAudience } from './clouds.ts';
import { hostOf, type LogAnalyticsConfig } from './config.ts';

/** The client of the SDK, whose retries are off: it would sleep a `Retry-After` of an hour in the call. */
export const createIngestionClient = (
  { endpoint }: Pick<LogAnalyticsConfig, 'endpoint'>,
  credential: TokenCredential,
  httpClient: HttpClient,
): LogsIngestionClient =>
  new LogsIngestionClient(endpoint, credential, {
    audience: monitorAudience(hostOf(endpoint)),
    retryOptions: { maxRetries: 0 },
    httpClient,
  });
