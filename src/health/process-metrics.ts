import { type MetricFamily, one, spread, unixSeconds } from './metric-family.ts';

/** Metrics of abandoned calls and of the process. */
export const processMetrics: readonly MetricFamily[] = [
  {
    name: 'bridge_deadline_exceeded_total',
    kind: 'counter',
    labels: ['target', 'op'],
    help: 'Calls of the Azure libraries abandoned at our own deadline, by target (a sink, or credential) and operation.',
    toDo: 'Check for a firewall between this VM and the target.',
    read: ({ deadlines }) => deadlines.flatMap(({ target, missed }) => spread('op', missed, { target })),
  },
  {
    name: 'bridge_late_settle_total',
    kind: 'counter',
    labels: ['target'],
    help: 'Of the abandoned calls, those that ended later.',
    toDo: '',
    read: ({ deadlines }) => deadlines.map(({ target, lateSettles }) => ({ labels: { target }, value: lateSettles })),
  },
  {
    name: 'process_resident_memory_bytes',
    kind: 'gauge',
    labels: [],
    help: 'Resident memory of the process.',
    toDo: '',
    read: ({ process }) => one(process.residentBytes),
  },
  {
    name: 'process_cpu_seconds_total',
    kind: 'counter',
    labels: [],
    help: 'CPU time of the process, user and system.',
    toDo: '',
    read: ({ process }) => one(process.cpuSeconds),
  },
  {
    name: 'process_start_time_seconds',
    kind: 'gauge',
    labels: [],
    help: 'Start time of the bridge, in seconds since 1970.',
    toDo: '',
    read: ({ process }) => one(unixSeconds(process.startedAt)),
  },
];
