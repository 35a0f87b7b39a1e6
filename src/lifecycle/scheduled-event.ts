import type { Pause } from './pause.ts';

/**
 * What the observer VM saw, in the vocabulary of the lifecycle. `imds/document.ts` makes these from the wire.
 * Platform facts: https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
 */

/** The types that are documented. Others may come: what reads them accepts any text. */
export const eventTypes = ['Freeze', 'Reboot', 'Redeploy', 'Preempt', 'Terminate'] as const;

/** One planned or happening operation, as one document lists it. `null` = missing, empty, unreadable or of the wrong type. */
export interface ScheduledEvent {
  /** As Azure spelled it; compared in lower case. */
  readonly eventId: string;
  /** `Scheduled`, `Started`, or any other text from Azure. */
  readonly eventStatus: string | null;
  /** One of {@link eventTypes}, or any other text from Azure. */
  readonly eventType: string | null;
  readonly resourceType: string | null;
  /** VM names, without the `_` that api-version 2017-03-01 put in front. */
  readonly resources: readonly string[] | null;
  /** ISO 8601 in UTC with milliseconds. Azure blanks it once the event has started. */
  readonly notBefore: string | null;
  readonly description: string | null;
  /** `Platform` or `User`. */
  readonly eventSource: string | null;
  /** Expected interruption in seconds; 0 = no impact, -1 = unknown or not applicable. */
  readonly durationSeconds: number | null;
  /** The entry as it was in the answer, unknown fields included. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** The whole answer of `GET /metadata/scheduledevents`, parsed. At most one entry per lower-case EventId. */
export interface EventsDocument {
  /** Azure's counter. Used to recognise a reset and "exactly one more", never to decide whether a document is new. */
  readonly incarnation: number;
  readonly events: readonly ScheduledEvent[];
  /** Entries without a readable EventId: while there is one, no absence can be believed. */
  readonly unreadable: number;
  /** EventIds (lower case) of which there is more than one entry: `events` has the content of one of them. */
  readonly listedTwice?: readonly string[];
}

/** The result of one poll: every answer of the endpoint is a value, none is an exception. */
export type PollResult =
  | {
      readonly kind: 'document';
      readonly document: EventsDocument;
      readonly imdsApiVersion: string;
      /** `Date` of the answer: Azure's time. */
      readonly azureTime: Date | null;
      /** `Date` of the answer minus our clock, whole seconds. */
      readonly clockOffsetSeconds: number | null;
    }
  /** The server says (304) that the document is the one seen last: a valid document all the same. */
  | { readonly kind: 'unchanged'; readonly azureTime: Date | null; readonly clockOffsetSeconds: number | null }
  /** No observation: it can neither begin nor end an event. */
  | {
      readonly kind: 'unavailable';
      /** Bounded vocabulary: `http-503`, `timeout`, `empty-body`, `not-json`, … */
      readonly code: string;
      /** One sentence an operator understands. */
      readonly reason: string;
      /** What the server asked for, uncapped; null when it asked for nothing. */
      readonly retryAfterMs: number | null;
    };

/** What the machine shows at the moment of a poll. Null = unknown = evidence of nothing. */
export interface HostEvidence {
  readonly bootId: string | null;
  readonly physicalHost: string | null;
  /** How late the 100 ms tick came since the evidence before, without our own synchronous work; null while the tick does not run. */
  readonly tick: Pause | null;
  /** How far the wall clock ran ahead of the monotonic clock since the evidence before, whole ms. Alone it proves nothing: NTP does it too. */
  readonly wallStepMs: number;
}

/** The observer VM, from IMDS instance metadata, overridden field by field by configuration. */
export interface Observer {
  /** Host name of the operating system. */
  readonly computer: string | null;
  readonly vmId: string;
  /** `compute.name`: the name that `Resources` uses. */
  readonly vmName: string;
  /** Lower case. */
  readonly resourceId: string | null;
  readonly subscriptionId: string | null;
  readonly resourceGroup: string | null;
  readonly vmScaleSetName: string | null;
  readonly vmScaleSetResourceId: string | null;
  readonly placementGroupId: string | null;
  readonly location: string | null;
  readonly zone: string | null;
  readonly physicalZone: string | null;
  readonly faultDomain: string | null;
  readonly updateDomain: string | null;
  readonly vmSize: string | null;
  readonly vmPriority: string | null;
  readonly osType: string | null;
  /** `publisher:offer:sku:version`. */
  readonly imageReference: string | null;
  readonly azureEnvironment: string | null;
  /** Only the tags named in `observer.tags`, at most 8 KB of JSON. */
  readonly tags: Readonly<Record<string, string>>;
}
