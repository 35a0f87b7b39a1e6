import type { Look } from '../panel.ts';

/** Columns that look the same wherever they stand. */

export const eventType: Look = { column: 'EventType', label: 'Event', as: 'event type' };
export const eventSource: Look = { column: 'EventSource', label: 'By' };
export const scaleSet: Look = { column: 'VmScaleSetName', label: 'Scale set' };
export const vm: Look = { column: 'VmName', label: 'VM' };
export const resource: Look = { column: 'ResourceId', label: 'Resource', as: 'resource' };
export const eventId: Look = { column: 'EventId', label: 'Event ID' };
export const time = (column: string, label: string): Look => ({ column, label, as: 'time' });
export const seconds = (column: string, label: string): Look => ({ column, label, unit: 's' });
export const milliseconds = (column: string, label: string): Look => ({ column, label, unit: 'ms' });
export const hidden = (column: string): Look => ({ column, as: 'hidden' });
