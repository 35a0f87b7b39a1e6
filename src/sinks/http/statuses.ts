import { orProxy, quoted } from '../../azure/failure.ts';
import type { StatusMeanings } from '../../azure/status-failure.ts';

const malformed: StatusMeanings[number] = (status, { host }, { message }) => [
  'poison',
  `${host} refuses the request as malformed (HTTP ${status}${quoted(message)}): check that it takes CloudEvents 1.0 in the content mode of sinks.http.mode.`,
];

// assumption: event-grid
/**
 * What only a receiver of events means by a status.
 * https://learn.microsoft.com/azure/event-grid/post-to-custom-topic#response
 */
export const statuses: StatusMeanings = {
  '3xx': (status, to) => [
    'configuration',
    `${to.host} redirects (HTTP ${status}), which is not followed since it could lead records elsewhere: check ${to.addressKey}, and set it to the address that it leads to.`,
  ],
  400: malformed,
  415: malformed,
  422: malformed,
  // Event Grid answers it when it is overloaded.
  503: (_, to) => ['throttled', `${to.host} throttles requests (HTTP 503); retrying later.${orProxy(to)}`],
};
