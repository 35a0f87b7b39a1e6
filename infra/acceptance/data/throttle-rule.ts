import { Agent } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Destinations } from '../target.ts';
import { type HttpReply, post } from './post.ts';

/**
 * A rule takes 12,000 requests a minute.
 * https://learn.microsoft.com/azure/azure-monitor/fundamentals/service-limits#logs-ingestion-api
 */
const limitPerMinute = 12_000;
/** Two minutes of twice the limit: more is no evidence, only costs. */
const mostRequests = 4 * limitPerMinute;
const inFlight = 64;
/** While the rule refuses, the load is only kept up. */
const pauseAfterRefusalMs = 1_000;

/**
 * Sends small rows to the rule until it answers 429, and continues until the returned function is called. Rejects if it takes everything.
 *
 * @param mostSent requests without a 429 after which it gives up
 */
export async function throttleRule(
  { logs, ca, token }: Destinations,
  signal: AbortSignal,
  say: (line: string) => void,
  mostSent = mostRequests,
): Promise<() => Promise<void>> {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const authorization = `Bearer ${(await token('logs')).token}`;
  const url = `${logs.endpoint}/dataCollectionRules/${logs.ruleId}/streams/${logs.streamName}?api-version=2023-01-01`;
  const stopped = new AbortController();
  const ended = AbortSignal.any([signal, stopped.signal]);
  const refused = Promise.withResolvers<HttpReply>();
  let sent = 0;
  let isRefused = false;

  async function load(): Promise<void> {
    while (!ended.aborted && (isRefused || sent < mostSent)) {
      sent += 1;
      const body = JSON.stringify([
        { TimeGenerated: new Date().toISOString(), RecordId: 'acceptance-load', IsTest: true },
      ]);
      const reply = await post(
        { url, headers: { authorization, 'content-type': 'application/json' }, body },
        { ca, agent },
      );
      if (reply.status === 429) {
        isRefused = true;
        refused.resolve(reply);
        await sleep(pauseAfterRefusalMs, undefined, { signal: ended }).catch(() => {});
      } else if (reply.status !== 204) {
        refused.reject(new Error(`The rule answers ${reply.status} to a small row: ${reply.message.slice(0, 200)}`));
        stopped.abort();
      }
    }
  }

  const startedAt = Date.now();
  const loads = Promise.all(Array.from({ length: inFlight }, load)).then(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1000);
    refused.reject(new Error(`The rule took ${sent} requests in ${seconds} s and never answered 429.`));
  });
  const stop = async (): Promise<void> => {
    stopped.abort();
    await loads;
    agent.destroy();
  };
  try {
    const { headers } = await refused.promise;
    say(`The rule answers 429 after ${sent} requests, with Retry-After: ${headers['retry-after'] ?? 'none'}.`);
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}
