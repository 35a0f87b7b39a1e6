import type { FaultTest } from '../fault-test.ts';
import { playStorms, type Storm } from '../virtual/storm.ts';

const ways = [
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [404, 'not-found'],
] as const;

/** The table answers with a status, the hub with the same in its own words. */
const stormOf = ([status, condition]: (typeof ways)[number], minutes: number): Storm => ({
  name: `HTTP ${status} and ${condition}`,
  sinks: ['event-hubs', 'log-analytics'],
  code: new RegExp(`^(http-${status}|${condition})$`),
  minutes,
  // The longest pause, and a poll.
  mostHealSeconds: 5 * 60 + 6,
  begin({ eventHubs, logAnalytics }) {
    logAnalytics.fault({ status });
    eventHubs.fault(condition);
    eventHubs.dropConnections();
  },
  end({ eventHubs, logAnalytics }) {
    logAnalytics.fault(null);
    eventHubs.fault(null);
  },
  refusals: ({ eventHubs, logAnalytics }) =>
    eventHubs.faultsPlayed + logAnalytics.requests.filter((request) => request.status === status).length,
  // Of both together: each sends again with a new token now and then.
  mostRefusals: 30 + 2 * minutes,
});

/** What a missing role, a wrong address or a rule that was recreated looks like until it is put right. */
export const denied: FaultTest = {
  id: 'denied',
  title: '401, 403 and 404 of both services for half an hour',
  kind: 'one process',
  // Minutes of each.
  cases: { quick: 30, full: 60 },
  load: { seconds: 35, processors: 0.4 },
  run: (context) =>
    playStorms(
      ways.map((way) => stormOf(way, context.cases)),
      context,
    ),
};
