import { createHash } from 'node:crypto';
import { type Answer, json, type Request, unknownVersion } from './answer.ts';
import type { GroupDocument } from './document.ts';
import { documentOfVersion, scheduledEventsVersions } from './versions.ts';
import type { View } from './view.ts';

/** What one VM's endpoint is made of. */
export interface Endpoint {
  readonly group: Pick<GroupDocument, 'change'>;
  readonly view: View;
  readonly etag: boolean;
  /** Starts an event that is listed, on behalf of this VM. */
  approve(eventId: string): void;
}

/** `GET` and `POST /metadata/scheduledevents` of one VM. */
export function answerScheduledEvents(request: Request, endpoint: Endpoint): Answer {
  const version = request.query.get('api-version') ?? '';
  if (!(scheduledEventsVersions as readonly string[]).includes(version)) return unknownVersion(scheduledEventsVersions);
  if (request.method === 'GET') return get(request, endpoint, version);
  if (request.method === 'POST') return approve(request, endpoint);
  return { status: 405, headers: { allow: 'GET, POST' }, body: '' };
}

function get(request: Request, { view, etag }: Endpoint, version: string): Answer {
  const answer = json(200, documentOfVersion(view.document, version));
  if (!etag) return answer;
  const tag = `"${createHash('sha256').update(answer.body).digest('hex').slice(0, 16)}"`;
  const headers = { ...answer.headers, etag: tag };
  if (request.headers['if-none-match'] === tag) return { status: 304, headers, body: '' };
  return { ...answer, headers };
}

/**
 * 200 for any valid id, also one that was approved before; 400 for a malformed body. An event starts for all of its `Resources`.
 * The documents leave open what an id that never was in the document is answered with: it counts as not valid here.
 */
function approve({ body }: Request, { group, view, approve }: Endpoint): Answer {
  const eventIds = readStartRequests(body);
  if (eventIds === null) return json(400, { error: 'Bad request. StartRequests is malformed' });
  const stranger = eventIds.find((eventId) => !view.knows(eventId));
  if (stranger !== undefined) return json(400, { error: `Bad request. EventId ${stranger} is not valid` });
  group.change(() => {
    for (const eventId of eventIds) approve(eventId);
  });
  return { status: 200, headers: {}, body: '' };
}

function readStartRequests(body: string): string[] | null {
  try {
    const { StartRequests: requests } = JSON.parse(body) as { StartRequests?: unknown };
    if (!Array.isArray(requests) || requests.length === 0) return null;
    const eventIds: unknown[] = requests.map((request: { EventId?: unknown }) => request.EventId);
    return eventIds.every((eventId) => typeof eventId === 'string' && eventId !== '') ? (eventIds as string[]) : null;
  } catch {
    return null;
  }
}
