import { quoted } from '../../azure/failure.ts';
import type { StatusMeanings } from '../../azure/status-failure.ts';

// assumption: logs-stream-missing
/** How a data collection rule says that it has no such stream: every row meets that, so no row is malformed. */
const namesStream = /InvalidStream|\bstream\b.*\bnot\b.*\b(configured|found|exist)/i;

/**
 * What only the Logs Ingestion API means by a status.
 * https://learn.microsoft.com/azure/azure-monitor/logs/logs-ingestion-api-overview
 */
export const statuses: StatusMeanings = {
  400: (_, to, { code = '', message }) =>
    namesStream.test(`${code} ${message}`)
      ? ['configuration', `${to.host} does not know ${to.name} (HTTP 400): check ${to.whatToCheck}.`]
      : [
          'poison',
          // Its own words are the only way to the offending column.
          `${to.host} refuses the batch as malformed (HTTP 400${quoted(message)}): check that ${to.name} exists and has the columns that this version writes.`,
        ],
  // assumption: logs-audience
  // A missing role is 403.
  401: (_, to) => [
    'configuration',
    `${to.host} does not accept the token (HTTP 401): check that ${to.addressKey} is an address of the cloud that this VM is in, and the VM's clock.`,
  ],
  // assumption: logs-throttled
  // https://learn.microsoft.com/azure/azure-monitor/fundamentals/service-limits#logs-ingestion-api
  429: (_, { host }) => [
    'throttled',
    `${host} throttles requests (HTTP 429): a data collection rule takes 12,000 requests and 2 GB a minute; retrying later.`,
  ],
};
