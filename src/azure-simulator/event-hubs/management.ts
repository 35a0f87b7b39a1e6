import rhea from 'rhea';
import { type Answer, type Request, refuse, succeed } from './answer.ts';
import type { Peer } from './broker.ts';
import type { Hub } from './hub.ts';
import type { Hubs } from './hubs.ts';
import { notFound, outOfRange, type Refusal } from './refusal.ts';

/** `READ` of a hub or of a partition on the `$management` node. */
export function answerManagement(request: Request, hubs: Hubs, peer: Peer): Answer {
  const asked = request.application_properties ?? {};
  const name = String(asked.name ?? '');
  const hub = hubs.find(name);
  if (hub === undefined) return refused(404, notFound(name));
  const refusal = peer.refusal('Manage', `${name}/$management`);
  if (refusal !== null) return refused(401, refusal);
  if (asked.type === 'com.microsoft:eventhub') return succeed(200, hubProperties(hub));
  const partition = String(asked.partition);
  const properties = partitionProperties(hub, partition);
  return properties === null ? refused(400, outOfRange(partition)) : succeed(200, properties);
}

function refused(status: number, { condition, description }: Refusal): Answer {
  return refuse(status, condition, description);
}

function hubProperties(hub: Hub): Record<string, unknown> {
  const ids = hub.partitions.map((_, index) => String(index));
  return {
    name: hub.name,
    type: 'com.microsoft:eventhub',
    created_at: rhea.types.wrap_timestamp(hub.createdAt.getTime()),
    partition_count: rhea.types.wrap_int(ids.length),
    partition_ids: rhea.types.wrap_array(ids, 0xa1, undefined),
    georeplication_factor: rhea.types.wrap_int(1),
  };
}

function partitionProperties(hub: Hub, id: string): Record<string, unknown> | null {
  const events = hub.partitions[Number(id)];
  if (events === undefined) return null;
  const last = events.at(-1);
  return {
    name: hub.name,
    type: 'com.microsoft:partition',
    partition: id,
    begin_sequence_number: rhea.types.wrap_long(last === undefined ? -1 : 0),
    last_enqueued_sequence_number: rhea.types.wrap_long(last?.sequenceNumber ?? -1),
    last_enqueued_offset: last?.offset ?? '-1',
    last_enqueued_time_utc: rhea.types.wrap_timestamp(last?.enqueuedAt.getTime() ?? 0),
    is_partition_empty: last === undefined,
  };
}
