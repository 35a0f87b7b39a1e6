import type { Look, Urgency } from '../panel.ts';

/** Columns that look the same wherever they stand. */

/** A freeze takes a moment, a restart the memory, the others the VM. */
const urgencies: Readonly<Record<string, Urgency>> = {
  Freeze: 'fine',
  Reboot: 'watch',
  Redeploy: 'watch',
  Preempt: 'act',
  Terminate: 'act',
};

export const eventType: Look = { column: 'EventType', label: 'Event', signs: urgencies };
export const eventSource: Look = { column: 'EventSource', label: 'By' };
export const scaleSet: Look = { column: 'VmScaleSetName', label: 'Scale set' };
export const vm: Look = { column: 'VmName', label: 'VM' };
export const resource: Look = { column: 'ResourceId', label: 'Resource', as: 'resource' };
export const eventId: Look = { column: 'EventId', label: 'Event id' };
export const time = (column: string, label: string): Look => ({ column, label, as: 'time' });
export const seconds = (column: string, label: string): Look => ({ column, label, unit: 's' });
export const milliseconds = (column: string, label: string): Look => ({ column, label, unit: 'ms' });
