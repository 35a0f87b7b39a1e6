import { flag, type MetricFamily, spread } from './metric-family.ts';

/** Of the sender processes: one for each destination with a library of Azure, and `tokens`. */
export const senderMetrics: readonly MetricFamily[] = [
  {
    name: 'bridge_sender_up',
    kind: 'gauge',
    labels: ['sender'],
    help: 'Whether the process of this sender runs. A sender ends after a minute without work, and tokens after each answer: 0 is normal.',
    toDo: '',
    read: ({ senders }) => senders.map(({ role, pid }) => ({ labels: { sender: role }, value: flag(pid !== null) })),
  },
  {
    name: 'bridge_sender_resident_bytes',
    kind: 'gauge',
    labels: ['sender'],
    help: 'Resident memory of the process of this sender, as of its last answer, at most 15 s ago. Missing while none runs.',
    toDo: '',
    read: ({ senders }) =>
      senders.flatMap(({ role, pid, residentBytes }) =>
        pid === null || residentBytes === 0 ? [] : [{ labels: { sender: role }, value: residentBytes }],
      ),
  },
  {
    name: 'bridge_sender_starts_total',
    kind: 'counter',
    labels: ['sender'],
    help: 'Processes of this sender that were started.',
    toDo: '',
    read: ({ senders }) => senders.map(({ role, starts }) => ({ labels: { sender: role }, value: starts })),
  },
  {
    name: 'bridge_sender_exits_total',
    kind: 'counter',
    labels: ['sender', 'code'],
    help: 'Unexpected ends of the process of this sender, by code. Each costs one attempt to send and no record.',
    toDo: 'Three within ten minutes: `status` says why. Check the log and the free memory of the VM.',
    read: ({ senders }) => senders.flatMap(({ role, deaths }) => spread('code', deaths, { sender: role })),
  },
];
