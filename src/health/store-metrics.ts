import { flag, type MetricFamily, one, spread } from './metric-family.ts';
import { diskRemedy } from './metric-remedies.ts';

/** Of the outbox on disk. */
export const storeMetrics: readonly MetricFamily[] = [
  {
    name: 'bridge_store_bytes',
    kind: 'gauge',
    labels: [],
    help: 'Size of the outbox on disk, its log included.',
    toDo: '',
    read: ({ store }) => one(store.fill.bytes),
  },
  {
    name: 'bridge_store_limit_bytes',
    kind: 'gauge',
    labels: [],
    help: 'The most that it may take: outbox.maxMegabytes, at most 5 % of what the disk had free at the start or later, never less than what is stored.',
    toDo: 'When it is full, ended events are discarded, oldest first: fix the sink that blocks it.',
    read: ({ store }) => one(store.fill.limitBytes),
  },
  {
    name: 'bridge_store_writable',
    kind: 'gauge',
    labels: [],
    help: '0 while the outbox cannot be written: records are then kept in memory and sent from there.',
    toDo: diskRemedy,
    read: ({ store }) => one(flag(store.storage.fault === null)),
  },
  {
    name: 'bridge_store_undurable_records',
    kind: 'gauge',
    labels: [],
    help: 'Records in memory only: they are lost when the process ends.',
    toDo: diskRemedy,
    read: ({ store }) => one(store.storage.undurable),
  },
  {
    name: 'bridge_store_errors_total',
    kind: 'counter',
    labels: ['code'],
    help: 'Times that the outbox became unwritable, by code.',
    toDo: diskRemedy,
    read: ({ store }) => spread('code', store.errors),
  },
  {
    name: 'bridge_store_corruptions_total',
    kind: 'counter',
    labels: [],
    help: 'Damaged files replaced since the process started.',
    toDo: 'The file system may be damaged: check the log of the kernel.',
    read: ({ store }) => one(store.corruptions),
  },
];
