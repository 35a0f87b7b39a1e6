/**
 * Moves work off a VM when Azure announces an event that affects it, and back when the event is over.
 *
 *   EVENT_HUBS_NAMESPACE=contoso.servicebus.windows.net EVENT_HUB_NAME=vm-lifecycle node subscriber.ts
 *
 * At each start it reads what the hub took in during the last LOOK_BACK_HOURS and does what STATE_FILE does not call done.
 * So it misses nothing while it is down for less than that, and than the hub keeps. An act is repeated only where it
 * failed, or where the process died between the act and the writing of the file.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { EventHubConsumerClient, type ReceivedEventData } from '@azure/event-hubs';
import { DefaultAzureCredential } from '@azure/identity';

/** Your part. Both must be idempotent. */
async function drain(vm: string, { eventType, notBefore }: LifecycleRecord): Promise<void> {
  console.log(`drain ${vm}: ${eventType}, not before ${notBefore ?? 'an unknown time'}`);
}
async function restore(vm: string, { eventType, phase, evidence }: LifecycleRecord): Promise<void> {
  console.log(`restore ${vm}: ${eventType} ${phase}, ${evidence.join(' ')}`);
}

const {
  EVENT_HUBS_NAMESPACE: namespace = '',
  EVENT_HUBS_CONNECTION_STRING: connectionString, // instead of the namespace
  EVENT_HUBS_CUSTOM_ENDPOINT: customEndpointAddress, // sb://host:port, where the namespace is reached: the simulator
  EVENT_HUB_NAME: hub = 'vm-lifecycle',
  CONSUMER_GROUP: group = '$Default', // one subscriber for each
  LOOK_BACK_HOURS: hours = '24',
  STATE_FILE: stateFile = 'subscriber-state.json',
} = process.env;

function fail(message: string, exitCode = 2): never {
  console.error(message);
  process.exit(exitCode);
}

/** What is used here of the body of a message: UTF-8 JSON that has every key, unknown being null. */
type LifecycleRecord = Record<'schemaVersion' | 'eventId' | 'phase' | 'observedAt' | 'vmId' | 'streamId', string> &
  Record<'eventType' | 'notBefore', string | null> &
  Record<'evidence' | 'affectedResources', string[]> & {
    isTest: boolean;
    clockOffsetSeconds: number | null;
    eventsInSight?: string[] | null;
  };

/** The latest record of each kind: repeats, copies of other VMs and any order of arrival come to the same. */
type KnownEvent = { listed?: LifecycleRecord; returned?: LifecycleRecord; ended?: LifecycleRecord };
/** By Azure's clock: those of two VMs may be minutes apart. Two seconds are the least that can be told. */
const time = ({ observedAt, clockOffsetSeconds: offset }: LifecycleRecord) =>
  Date.parse(observedAt) + (offset !== null && Math.abs(offset) >= 2 ? 1000 * offset : 0);
const later = (a: LifecycleRecord | undefined, b: LifecycleRecord) => (a && time(a) > time(b) ? a : b);

/** What VMs see whose state is new, in any partition; and which streams of which VMs told of an event. */
const snapshots = new Map<string, LifecycleRecord>();
const tellers = new Map<string, Set<string>>();

/** A VM lost what it knew of the event, and sees it no more: nobody is left to tell its end. */
function presumedEnd(eventId: string, known: LifecycleRecord): LifecycleRecord | undefined {
  const isLost = ({ vmId, streamId }: LifecycleRecord) =>
    [...(tellers.get(eventId) ?? [])].some((one) => one.startsWith(`${vmId} `) && one !== `${vmId} ${streamId}`);
  const isInSight = ({ eventsInSight }: LifecycleRecord) =>
    eventsInSight?.some((one) => one.toLowerCase() === eventId) ?? true;
  return [...snapshots.values()].find((one) => time(one) > time(known) && isLost(one) && !isInSight(one));
}

/** A phase that is not named here, today or in years to come, changes nothing. */
function learn(events: Map<string, KnownEvent>, record: LifecycleRecord): void {
  if (!/^1\./.test(record?.schemaVersion) || record.isTest) return;
  if (record.phase === 'Snapshot') snapshots.set(record.streamId, record);
  if (record.phase === 'Snapshot') return;
  const eventId = record.eventId.toLowerCase();
  const event = events.get(eventId) ?? {};
  tellers.set(eventId, (tellers.get(eventId) ?? new Set()).add(`${record.vmId} ${record.streamId}`));
  if (['Scheduled', 'Updated', 'Started'].includes(record.phase)) event.listed = later(event.listed, record);
  if (['Completed', 'Canceled', 'Ended'].includes(record.phase)) event.ended = later(event.ended, record);
  if (record.evidence.includes('reappeared')) event.returned = later(event.returned, record);
  events.set(eventId, event);
}

/** The events for which a VM is drained. */
const drained: Record<string, string[]> = existsSync(stateFile) ? JSON.parse(readFileSync(stateFile, 'utf8')) : {};
function note(vm: string, eventId: string, isDrained: boolean): void {
  const others = (drained[vm] ?? []).filter((one) => one !== eventId);
  drained[vm] = isDrained ? [...others, eventId] : others;
  if (drained[vm].length === 0) delete drained[vm];
  writeFileSync(`${stateFile}.new`, JSON.stringify(drained));
  renameSync(`${stateFile}.new`, stateFile);
}

/** Brings what is drained for an event in line with what is known of it. A return withdraws the ends observed before it. */
async function settle(eventId: string, { listed, returned, ended }: KnownEvent): Promise<void> {
  const isEnded = ended !== undefined && later(returned, ended) === ended;
  const presumed = listed && !isEnded ? presumedEnd(eventId, later(returned, listed)) : undefined;
  const isOver = isEnded || presumed !== undefined;
  const record = isEnded ? ended : (presumed ?? listed);
  if (record === undefined) return;
  const affected = isOver ? [] : record.affectedResources;
  for (const vm of new Set([...affected, ...Object.keys(drained)])) {
    const [isAffected, reasons] = [affected.includes(vm), drained[vm] ?? []];
    if (isAffected === reasons.includes(eventId)) continue;
    try {
      if (isAffected) await drain(vm, record);
      else if (reasons.length === 1) await restore(vm, record); // else another event still needs it drained
      note(vm, eventId, isAffected);
    } catch (error) {
      console.error(error);
    }
  }
}

if (namespace === '' && !connectionString) fail('Set EVENT_HUBS_NAMESPACE or EVENT_HUBS_CONNECTION_STRING.');

const horizon = (): Date => new Date(Date.now() - Number(hours) * 3_600_000);
const retryOptions = { retryDelayInMs: 1_000 }; // else 30 s: all the notice that a Spot VM gets
const options = { ...(customEndpointAddress && { customEndpointAddress }), retryOptions };
const client = createClient();
function createClient(): EventHubConsumerClient {
  if (!connectionString)
    return new EventHubConsumerClient(group, namespace, hub, new DefaultAzureCredential(), options);
  try {
    return new EventHubConsumerClient(group, connectionString, hub, options);
  } catch (error) {
    return fail(`EVENT_HUBS_CONNECTION_STRING is unusable: ${(error as Error).message}`);
  }
}
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => client.close());

const partitions = await client.getPartitionIds().catch((error: AggregateError) => {
  const { message } = error.errors?.[0] ?? error; // one for each attempt
  return fail(`Cannot read the event hub ${hub}: ${message}`, 1);
});
for (const partition of partitions) {
  const history = (await client.getPartitionProperties(partition)).lastEnqueuedSequenceNumber;
  const events = new Map<string, KnownEvent>(); // all records of an event are in one partition
  let position = -1;
  const processEvents = async (messages: ReceivedEventData[]): Promise<void> => {
    for (const { body } of messages) learn(events, body);
    position = messages.at(-1)?.sequenceNumber ?? position;
    if (position < history) return; // what history announces it mostly ends, too: first all of it is read
    for (const [eventId, event] of events) {
      await settle(eventId, event);
      if (!Object.values(event).every(({ observedAt }) => new Date(observedAt) < horizon())) continue;
      events.delete(eventId);
      tellers.delete(eventId);
    }
  };
  // After the wait it is called with nothing: then failed acts are tried again, and a lost connection is noticed.
  const how = { startPosition: { enqueuedOn: horizon() }, maxBatchSize: 100, maxWaitTimeInSeconds: 5 };
  client.subscribe(partition, { processEvents, processError: async (error) => console.error(error) }, how);
}
