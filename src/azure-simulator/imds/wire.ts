import { randomUUID } from 'node:crypto';

/**
 * The document in the words of the wire, newest version; older versions are made from it (`versions.ts`).
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events
 */
export interface WireDocument {
  DocumentIncarnation: number;
  Events: WireEvent[];
}

export interface WireEvent {
  EventId: string;
  EventStatus: string;
  EventType: string;
  ResourceType: string;
  Resources: string[];
  /** RFC 1123; blank once the event has started. */
  NotBefore: string;
  Description: string;
  EventSource: string;
  DurationInSeconds: number;
  /** For fields of later versions. */
  [unknown: string]: unknown;
}

/** An event to be announced. Only type and resources are required. */
export interface NewEvent {
  readonly eventId?: string;
  readonly eventType: string;
  readonly resources: readonly string[];
  /** Default: the documented minimum notice of the type, from now. */
  readonly notBefore?: Date;
  /** Default: 5 for a Freeze, else -1 (unknown). */
  readonly durationSeconds?: number;
  readonly eventSource?: string;
  readonly description?: string;
  /** `Started`: an event without notice, as after a hardware failure. */
  readonly status?: 'Scheduled' | 'Started';
}

/** What may change of a listed event. */
export type EventPatch = Partial<Omit<NewEvent, 'eventId'>>;

const minimumNoticeSeconds: Readonly<Record<string, number>> = {
  Freeze: 900,
  Reboot: 900,
  Redeploy: 600,
  Preempt: 30,
  Terminate: 300,
};

const usualDescription: Readonly<Record<string, string>> = {
  Freeze: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
  Reboot: 'Virtual machine is going to be restarted because of maintenance of its host.',
  Redeploy: 'Virtual machine is going to be redeployed because of a predicted hardware failure.',
  Preempt: 'Spot virtual machine is being deleted to reclaim capacity.',
  Terminate: 'Virtual machine is scheduled for deletion.',
  'Reboot User': 'Virtual machine is going to be restarted as requested by authorized user.',
  'Redeploy User': 'Virtual machine is going to be redeployed as requested by authorized user.',
};

export function toWireEvent(event: NewEvent, now: Date): WireEvent {
  const status = event.status ?? 'Scheduled';
  const noticeMs = (minimumNoticeSeconds[event.eventType] ?? 900) * 1000;
  const notBefore = event.notBefore ?? new Date(now.getTime() + noticeMs);
  return {
    EventId: event.eventId ?? randomUUID().toUpperCase(),
    EventStatus: status,
    EventType: event.eventType,
    ResourceType: 'VirtualMachine',
    Resources: [...event.resources],
    NotBefore: status === 'Started' ? '' : notBefore.toUTCString(),
    Description:
      event.description ??
      usualDescription[`${event.eventType} ${event.eventSource}`] ??
      usualDescription[event.eventType] ??
      '',
    EventSource: event.eventSource ?? 'Platform',
    DurationInSeconds: event.durationSeconds ?? (event.eventType === 'Freeze' ? 5 : -1),
  };
}

export function patchWireEvent(event: WireEvent, patch: EventPatch): void {
  if (patch.eventType !== undefined) event.EventType = patch.eventType;
  if (patch.resources !== undefined) event.Resources = [...patch.resources];
  if (patch.durationSeconds !== undefined) event.DurationInSeconds = patch.durationSeconds;
  if (patch.eventSource !== undefined) event.EventSource = patch.eventSource;
  if (patch.description !== undefined) event.Description = patch.description;
  if (patch.notBefore !== undefined) event.NotBefore = patch.notBefore.toUTCString();
  if (patch.status !== undefined) event.EventStatus = patch.status;
  if (patch.status === 'Started') event.NotBefore = '';
}
