import type { WireDocument, WireEvent } from './wire.ts';

/** The published versions of the scheduled-events endpoint, oldest first. */
export const scheduledEventsVersions = [
  '2017-03-01',
  '2017-08-01',
  '2017-11-01',
  '2019-01-01',
  '2019-04-01',
  '2019-08-01',
  '2020-07-01',
] as const;

/** The version in which a field appeared; one that is not listed was there from the beginning. */
const since: Readonly<Record<string, string>> = {
  Description: '2019-04-01',
  EventSource: '2019-08-01',
  DurationInSeconds: '2020-07-01',
};

/** Types that a version does not have are not in its document. */
const typeSince: Readonly<Record<string, string>> = { Preempt: '2017-11-01', Terminate: '2019-01-01' };

/** The document in one version. Unknown fields are kept. */
export function documentOfVersion(document: WireDocument, version: string): WireDocument {
  return {
    ...document,
    Events: document.Events.filter((event) => version >= (typeSince[event.EventType] ?? '')).map((event) =>
      eventOfVersion(event, version),
    ),
  };
}

function eventOfVersion(event: WireEvent, version: string): WireEvent {
  const kept = Object.entries(event).filter(([field]) => version >= (since[field] ?? ''));
  const versioned = Object.fromEntries(kept) as WireEvent;
  if (version === '2017-03-01' && Array.isArray(versioned.Resources))
    versioned.Resources = versioned.Resources.map((name) => `_${name}`);
  return versioned;
}
