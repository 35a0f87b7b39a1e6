import type { Duplex } from 'node:stream';
import type { Connection, Container, EventContext, Receiver, Sender } from 'rhea';
import { type Address, parseAddress } from './address.ts';
import { type Broker, notFound, type Peer } from './broker.ts';
import { createProducers, maxMessageBytes } from './producers.ts';
import { createRequests } from './requests.ts';

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
export function servePeer(container: Container, stream: Duplex, broker: Broker): void {
  const { consumers, log } = broker;
  const connection = container.create_connection({ ...connectionOptions });
  const grants = new Set<string>();
  const peer: Peer = {
    connection,
    drop: () => void stream.destroy(),
    mayUse: (path) =>
      [...grants].some((granted) => granted === '' || path === granted || path.startsWith(`${granted}/`)),
  };
  const producers = createProducers(broker, peer);
  const requests = createRequests(broker, peer, (path) => grants.add(path));

  /** The client sends: events to the hub, or requests to one of the two service nodes. */
  const openIncoming = (receiver: Receiver): void => {
    const address = parseAddress(receiver.target?.address);
    if (address.kind === 'hub') producers.open(receiver, address);
    else if (isServiceNode(address)) requests.open(receiver);
    else receiver.close(notFound(String(receiver.target?.address)));
  };

  /** The client receives: events of a partition, or answers of a service node. */
  const openOutgoing = (sender: Sender): void => {
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
  on(['sender_close', 'sender_error'], ({ sender }) => sender && consumers.forget(sender));
  // A client that ends something with an error is no exception of ours; without a listener rhea makes one of it.
  on(['connection_error', 'session_error', 'session_close', 'receiver_error', 'receiver_close'], () => {});
  connection.on('error', log.add);
  // A frame that the protocol forbids: the client's fault, and rhea ends the connection.
  connection.on('protocol_error', () => {});
  tolerateLateFrames(connection);

  // rhea listens for `end` and `error` only; a destroyed stream has neither, and its heartbeat would run for ever.
  stream.once(
    'close',
    log.guard(() => connection.eof()),
  );
  connection.accept(stream);
}

/**
 * The SDK settles deliveries and gives credit after it has ended their session, when it is closed while events still
 * arrive. rhea would end the whole connection over it, and `close` of the SDK would then never resolve.
 */
function tolerateLateFrames(connection: Connection): void {
  for (const name of ['on_disposition', 'on_flow']) {
    const handle: (frame: { channel: number }) => void = connection[name].bind(connection);
    connection[name] = (frame: { channel: number }) => {
      if (connection.remote_channel_map[frame.channel] !== undefined) handle(frame);
    };
  }
}

function isServiceNode(address: Address): boolean {
  return address.kind === 'cbs' || address.kind === 'management';
}

/** Accepts a link on which we send. Until its source is set, our attach would say that the node does not exist. */
export function openLike(sender: Sender): void {
  sender.set_source({ address: sender.source.address });
  if (sender.target?.address) sender.set_target({ address: sender.target.address });
}
