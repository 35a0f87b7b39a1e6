import type { Duplex } from 'node:stream';
import rhea, { type EventContext, type Receiver, type Sender } from 'rhea';
import { type Address, parseAddress } from './address.ts';
import type { Broker, Peer } from './broker.ts';
import { createGrants } from './grants.ts';
import { createLinks, type Link } from './links.ts';
import { createProducers } from './producers.ts';
import { expired, notFound, unauthorized } from './refusal.ts';
import { createRequests } from './requests.ts';
import { answerDetachInKind, repeatSettleModes, speakLikeTheService } from './rhea-differences.ts';
import { saslMechanisms } from './sasl.ts';
import { maxMessageBytes } from './transfer.ts';

/**
 * What OPEN says has to be given per connection: rhea ignores it on the container. The credit window is zero because
 * credit is given only once a link has been accepted.
 */
const connectionOptions = {
  port: 0,
  max_frame_size: 65_536,
  channel_max: 4_999,
  idle_time_out: 240_000,
  receiver_options: { autoaccept: false, credit_window: 0, max_message_size: maxMessageBytes },
} as const;

/** Speaks AMQP on an accepted stream, whatever carries it. */
export function servePeer(stream: Duplex, broker: Broker): void {
  const { consumers, log, clock, idle } = broker;
  const grants = createGrants();
  const container = rhea.create_container({ id: 'azure-simulator' });
  const signedIn = (): void => grants.add('', Number.POSITIVE_INFINITY);
  Object.assign(container.sasl_server_mechanisms, saslMechanisms(broker.tokens.sharedAccessKey, signedIn));
  container.on('error', log.add);
  const connection = container.create_connection({ ...connectionOptions });
  const links = createLinks(connection, grants, idle, clock.now);
  const peer: Peer = {
    connection,
    links,
    drop: () => void stream.destroy(),
    refusal(claim, entity) {
      const until = grants.until(entity.toLowerCase());
      if (until === null) return unauthorized(claim, entity);
      return until <= clock.now() ? expired(until) : null;
    },
  };
  const producers = createProducers(broker, peer);
  const requests = createRequests(broker, peer, grants);

  /** The client sends: events to the hub, or requests to one of the two service nodes. */
  const openIncoming = (receiver: Receiver): void => {
    repeatSettleModes(receiver);
    const address = parseAddress(receiver.target?.address);
    if (address.kind === 'hub') producers.open(receiver, address);
    else if (isServiceNode(address)) requests.open(receiver);
    else receiver.close(notFound(String(receiver.target?.address)));
  };

  /** The client receives: events of a partition, or answers of a service node. */
  const openOutgoing = (sender: Sender): void => {
    repeatSettleModes(sender);
    const address = parseAddress(sender.source?.address);
    if (address.kind === 'partition') consumers.open(sender, address, peer);
    else if (isServiceNode(address)) openLike(sender);
    else sender.close(notFound(String(sender.source?.address)));
  };

  const receive = (context: EventContext): Promise<void> => {
    const address = parseAddress(context.receiver?.target?.address);
    return address.kind === 'hub' ? producers.receive(context, address) : requests.answer(context, address);
  };

  const on = (events: readonly string[], handler: (context: EventContext) => unknown): void => {
    for (const event of events) connection.on(event, log.guard(handler));
  };
  on(['connection_open'], () => broker.opened(peer));
  on(['connection_close', 'disconnected'], () => broker.closed(peer));
  on(['receiver_open'], ({ receiver }) => receiver && openIncoming(receiver));
  on(['sender_open'], ({ sender }) => sender && openOutgoing(sender));
  on(['message'], receive);
  on(['sender_flow', 'sendable', 'sender_draining'], ({ sender }) => sender && consumers.pump(sender));
  const forget = (link: Link): void => {
    answerDetachInKind(link);
    links.forget(link);
    consumers.forget(link);
  };
  on(['sender_close', 'sender_error'], ({ sender }) => sender && forget(sender));
  on(['receiver_close', 'receiver_error'], ({ receiver }) => receiver && forget(receiver));
  on(['session_close', 'session_error'], ({ session }) => session?.each_link(forget, () => true));
  // A client that ends something with an error is no exception of ours; without a listener rhea makes one of it.
  on(['connection_error'], () => {});
  connection.on('error', log.add);
  // A frame that the protocol forbids: the client's fault, and rhea ends the connection.
  connection.on('protocol_error', () => {});
  speakLikeTheService(connection);

  // rhea listens for `end` and `error` only; a destroyed stream has neither, and its heartbeat would never stop.
  stream.once(
    'close',
    log.guard(() => connection.eof()),
  );
  connection.accept(stream);
}

function isServiceNode(address: Address): boolean {
  return address.kind === 'cbs' || address.kind === 'management';
}

/** Accepts a link on which we send. Until its source is set, our attach would say that the node does not exist. */
export function openLike(sender: Sender): void {
  sender.set_source({ address: sender.source.address });
  if (sender.target?.address) sender.set_target({ address: sender.target.address });
}
