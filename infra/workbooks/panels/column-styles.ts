import type { ColumnStyle } from '../panel.ts';

/** Columns that look the same wherever they stand. */

export const eventType: ColumnStyle = { column: 'EventType', label: 'Event', as: 'event type' };
export const eventSource: ColumnStyle = { column: 'EventSource', label: 'By' };
export const scaleSet: ColumnStyle = { column: 'VmScaleSetName', label: 'Scale set' };
export const operatingSystem: ColumnStyle = { column: 'OsType', label: 'OS' };
export const vm: ColumnStyle = { column: 'VmName', label: 'VM' };
export const resource: ColumnStyle = { column: 'ResourceId', label: 'Resource', as: 'resource' };
export const eventId: ColumnStyle = { column: 'EventId', label: 'Event ID' };
export const time = (column: string, label: string): ColumnStyle => ({ column, label, as: 'time' });
export const seconds = (column: string, label: string): ColumnStyle => ({ column, label, unit: 's' });
export const milliseconds = (column: string, label: string): ColumnStyle => ({ column, label, unit: 'ms' });
export const hidden = (column: string): ColumnStyle => ({ column, as: 'hidden' });
