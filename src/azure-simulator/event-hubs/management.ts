import rhea from 'rhea';
import { type Answer, type Request, refuse, succeed } from './answer.ts';
import type { Broker, Peer } from './broker.ts';
import type { Hub } from './hub.ts';
import { judgeToken } from './put-token.ts';
import { notFound, outOfRange, type Refusal, refusal } from './refusal.ts';

/** `READ` of a hub or of a partition on the `$management` node. */
export async function answerManagement(request: Request, broker: Broker, peer: Peer): Promise<Answer> {
  const asked = request.application_properties ?? {};
  const name = String(asked.name ?? '');
  const hub = broker.hubs.find(name);
  if (hub === undefined) return refused(404, notFound(name));
  const forbidden = await whyForbidden(`${name}/$management`, asked.security_token, broker, peer);
  if (forbidden !== null) return refused(401, forbidden);
  if (asked.type === 'com.microsoft:eventhub') return succeed(200, hubProperties(hub));
  const partition = String(asked.partition);
  const properties = partitionProperties(hub, partition);
  return properties === null ? refused(400, outOfRange(partition)) : succeed(200, properties);
}

/** A token on the connection gives access, as does one in the request, the only one that Microsoft's client for Java has there. */
async function whyForbidden(
  entity: string,
  token: unknown,
  { tokens, clock }: Broker,
  peer: Peer,
): Promise<Refusal | null> {
  const forbidden = peer.refusal('Manage', entity);
  if (forbidden === null || typeof token !== 'string') return forbidden;
  const judged = await judgeToken(token, `sb://namespace/${entity}`, tokens, clock.now());
  return judged.accepted ? null : refusal('amqp:unauthorized-access', judged.description);
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
    // Increases when a partition restarts, which none does here.
    last_enqueued_sequence_number_epoch: rhea.types.wrap_long(0),
    last_enqueued_offset: last?.offset ?? '-1',
    last_enqueued_time_utc: rhea.types.wrap_timestamp(last?.enqueuedAt.getTime() ?? 0),
    is_partition_empty: last === undefined,
  };
}
