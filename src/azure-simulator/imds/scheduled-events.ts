import { createHash } from 'node:crypto';
import { type Answer, json, type Request, unknownVersion } from './answer.ts';
import type { GroupDocument } from './document.ts';
import { documentOfVersion, scheduledEventsVersions } from './versions.ts';

/** `GET` and `POST /metadata/scheduledevents`. `approved` is told each approval of a listed event, before it starts. */
export function answerScheduledEvents(
  request: Request,
  document: GroupDocument,
  options: { readonly etag: boolean; readonly approved: (eventId: string) => void },
): Answer {
  const version = request.query.get('api-version') ?? '';
  if (!(scheduledEventsVersions as readonly string[]).includes(version)) return unknownVersion(scheduledEventsVersions);
  if (request.method === 'GET') return get(request, document, version, options.etag);
  if (request.method === 'POST') return approve(request, document, options.approved);
  return { status: 405, headers: { allow: 'GET, POST' }, body: '' };
}

function get(request: Request, document: GroupDocument, version: string, etag: boolean): Answer {
  const answer = json(200, documentOfVersion(document.current, version));
  if (!etag) return answer;
  const tag = `"${createHash('sha256').update(answer.body).digest('hex').slice(0, 16)}"`;
  const headers = { ...answer.headers, etag: tag };
  if (request.headers['if-none-match'] === tag) return { status: 304, headers, body: '' };
  return { ...answer, headers };
}

/**
 * 200 for any valid id, also one that was approved before; 400 for a malformed body. The documents leave open what
 * an id that never was in the document is answered with: it counts as not valid here.
 */
function approve({ body }: Request, document: GroupDocument, approved: (eventId: string) => void): Answer {
  const eventIds = readStartRequests(body);
  if (eventIds === null) return json(400, { error: 'Bad request. StartRequests is malformed' });
  const stranger = eventIds.find((eventId) => !document.knows(eventId));
  if (stranger !== undefined) return json(400, { error: `Bad request. EventId ${stranger} is not valid` });
  document.change(() => {
    for (const eventId of eventIds) {
      const event = document.find(eventId);
      if (event === undefined) continue;
      approved(event.EventId);
      document.start(eventId);
    }
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
