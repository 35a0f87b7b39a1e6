import type { AzureSimulator, EventPatch, WireEvent } from '../index.ts';
import { InvalidInput, type Kind, listOf, name, number, oneOf, readFields, text } from '../read-fields.ts';
import { type Call, Refusal, type Route } from './route.ts';

/** A reader has to expect types that no version of the documents lists: any word will do that is spelled like theirs. */
const eventType: Kind<string> = {
  expected: 'Freeze, Reboot, Redeploy, Preempt, Terminate, or another word that begins with a capital',
  fits: (value): value is string => typeof value === 'string' && /^[A-Z][A-Za-z]*$/.test(value),
};

const kinds = {
  eventType,
  resources: listOf(name),
  noticeSeconds: number('a number of seconds', 0, 31_536_000),
  durationSeconds: number('a number of seconds', -1, 31_536_000),
  eventSource: oneOf('Platform', 'User'),
  description: text,
  status: oneOf('Scheduled', 'Started'),
};

/** A patch with a notice in seconds instead of NotBefore. */
function readPatch(body: unknown): EventPatch & { readonly eventId?: string } {
  const { noticeSeconds, ...fields } = readFields('the body', body, { eventId: name, ...kinds });
  if (noticeSeconds === undefined) return fields;
  return { ...fields, notBefore: new Date(Date.now() + 1000 * noticeSeconds) };
}

/** Everything that can happen to an event. */
export function eventRoutes({ imds }: AzureSimulator): readonly Route[] {
  const listed = ({ part }: Call): Readonly<WireEvent> => {
    const event = imds.find(part('id'));
    if (event) return event;
    throw new Refusal(404, `Event ${part('id')} is not in the document; GET /document lists its events`);
  };

  return [
    {
      method: 'POST',
      path: '/events',
      description:
        '{eventType, resources?, noticeSeconds?, durationSeconds?, eventSource?, description?, status?, eventId?}: an event appears',
      answer({ body }) {
        const { eventType, resources = imds.vms.slice(0, 1).map((vm) => vm.name), ...fields } = readPatch(body);
        if (eventType === undefined) {
          throw new InvalidInput(`the body has no eventType; expected ${kinds.eventType.expected}`);
        }
        if (fields.eventId !== undefined && imds.find(fields.eventId)) {
          throw new Refusal(409, `Event ${fields.eventId} is in the document already; PATCH /events/{id} changes it`);
        }
        return { eventId: imds.schedule({ ...fields, eventType, resources }) };
      },
    },
    {
      method: 'PATCH',
      path: '/events/{id}',
      description: 'the same fields but eventId: the event changes',
      answer(call) {
        const { EventId: eventId } = listed(call);
        const { eventId: another, ...patch } = readPatch(call.body);
        if (another !== undefined)
          throw new InvalidInput('eventId of an event cannot change; POST /events makes another');
        if (Object.keys(patch).length === 0) {
          throw new InvalidInput(`the body changes nothing; expected one of ${Object.keys(kinds).join(', ')}`);
        }
        imds.update(eventId, patch);
        return { eventId };
      },
    },
    {
      method: 'POST',
      path: '/events/{id}/start',
      description: 'the event is Started',
      answer(call) {
        const { EventId: eventId, EventStatus } = listed(call);
        if (EventStatus === 'Started') {
          throw new Refusal(409, `Event ${eventId} is Started already; DELETE /events/{id} takes it away`);
        }
        imds.start(eventId);
        return { eventId };
      },
    },
    {
      method: 'POST',
      path: '/events/{id}/approve',
      description: '{vm?}: as if that VM (default: the first) had approved the event',
      answer(call) {
        const { EventId: eventId } = listed(call);
        const { vm = imds.vms[0]?.name ?? '' } = readFields('the body', call.body ?? {}, { vm: name });
        if (!imds.vms.some((known) => known.name === vm)) {
          throw new Refusal(404, `There is no VM "${vm}"; GET /vms lists all`);
        }
        imds.approve(eventId, vm);
        return { eventId };
      },
    },
    {
      method: 'DELETE',
      path: '/events/{id}',
      description: 'the event leaves the document',
      answer(call) {
        const { EventId: eventId } = listed(call);
        imds.remove(eventId);
        return { eventId };
      },
    },
  ];
}
