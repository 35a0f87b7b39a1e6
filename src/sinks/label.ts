const labels: Readonly<Record<string, string>> = {
  'event-hubs': 'Event Hubs',
  'log-analytics': 'Log Analytics',
  stdout: 'Standard output',
};

/** A sink by its name in sentences; a sink of another version keeps the name that it has. */
export const labelOf = (sink: string): string => labels[sink] ?? sink;
