import type { Connection } from 'rhea';
import type { Link } from './links.ts';

/** Where rhea, left to itself, does otherwise than the service, to the harm of some client. */
export function speakLikeTheService(connection: Connection): void {
  tolerateLateFrames(connection);
  tolerateGapsInDeliveryIds(connection);
  reportEachOutcome(connection);
  keepMessagesEncoded(connection);
  writeFullFrames(connection);
}

/**
 * The attach of the service repeats the settle modes that the client asked for; rhea would answer with its defaults, which Microsoft's
 * client for Go takes for a refusal. Links on which we receive always settle first.
 */
export function repeatSettleModes(link: Link): void {
  const { attach } = (link as unknown as Inner).local;
  attach.snd_settle_mode = link.snd_settle_mode;
  if (link.is_sender()) attach.rcv_settle_mode = link.rcv_settle_mode;
}

/**
 * A detach without `closed` is answered with one without it; rhea would close the link, and the client would have to attach again to close
 * its end as well, as Microsoft's for Rust did for every reader.
 * https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-transport-v1.0-os.html#section-link-resuming
 */
export function answerDetachInKind(link: Link): void {
  const { detach } = (link as unknown as Inner).remote;
  if (detach !== undefined && detach.closed !== true) link.close = link.detach;
}

/** As much of a link of rhea as its typings leave out. */
interface Inner {
  readonly local: {
    readonly attach: { snd_settle_mode?: 0 | 1 | 2 | undefined; rcv_settle_mode?: 0 | 1 | undefined };
  };
  readonly remote: { readonly detach?: { readonly closed?: boolean } };
}

interface Frame<P = unknown> {
  readonly channel: number;
  readonly performative: P;
}

/**
 * The JavaScript SDK settles deliveries and gives credit after it has ended their session, when it is closed while
 * events still arrive. rhea would end the whole connection over it, and `close` of the SDK would then never resolve.
 */
function tolerateLateFrames(connection: Connection): void {
  for (const name of ['on_disposition', 'on_flow']) {
    const handle: (frame: Frame) => void = connection[name].bind(connection);
    connection[name] = (frame: Frame) => {
      if (connection.remote_channel_map[frame.channel] !== undefined) handle(frame);
    };
  }
}

/**
 * Microsoft's client for Rust counts the frames of a message as deliveries, so that the next one has a higher id than rhea expects. The
 * protocol asks for ids that are unique in a session, not for ones without gaps.
 * https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-transport-v1.0-os.html#type-transfer
 */
function tolerateGapsInDeliveryIds(connection: Connection): void {
  const handle: (frame: Frame<Transfer>) => void = connection.on_transfer.bind(connection);
  connection.on_transfer = (frame: Frame<Transfer>) => {
    const session: Session | undefined = connection.remote_channel_map[frame.channel];
    const link = session?.remote.handles[frame.performative.handle];
    if (link?._incomplete === undefined && session?.incoming.next_delivery_id !== undefined) {
      session.incoming.next_delivery_id = frame.performative.delivery_id;
    }
    handle(frame);
  };
}

/**
 * rhea reports outcomes of one moment as a range, and does not compare the first two of it: an accepted delivery behind a rejected one
 * would be reported as rejected. Here each has a frame of its own.
 */
function reportEachOutcome(connection: Connection): void {
  const handle: (frame: Frame) => void = connection.on_begin.bind(connection);
  connection.on_begin = (frame: Frame) => {
    handle(frame);
    const session: Session | undefined = connection.remote_channel_map[frame.channel];
    if (session === undefined) return;
    const { incoming } = session;
    const process = incoming.process.bind(incoming);
    incoming.process = (of) => {
      for (const delivery of incoming.updated.splice(0)) {
        incoming.updated = [delivery];
        process(of);
      }
      process(of);
    };
  };
}

/** The part of rhea's own objects that is used. */
interface Session {
  readonly remote: { readonly handles: Readonly<Record<number, { readonly _incomplete?: unknown }>> };
  readonly incoming: { next_delivery_id?: number; updated: unknown[]; process(session: unknown): void };
}

interface Transfer {
  readonly handle: number;
  readonly delivery_id: number;
}

/** Any but 0, the standard one. */
const formatOfSingles = 1;

/** rhea decodes messages of the standard format, and their numbers lose their types: a long would be stored as a uint. */
function keepMessagesEncoded(connection: Connection): void {
  const handle: (frame: Frame) => void = connection.on_transfer.bind(connection);
  connection.on_transfer = (frame: Frame<{ message_format?: number }>) => {
    if (frame.performative.message_format === 0) frame.performative.message_format = formatOfSingles;
    handle(frame);
  };
}

/**
 * How many fields each performative has, by its descriptor.
 * https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-transport-v1.0-os.html#section-performatives
 */
const fieldCounts = new Map([
  [0x10, 10], // open
  [0x11, 8], // begin
  [0x12, 14], // attach
  [0x13, 11], // flow
  [0x14, 11], // transfer
  [0x15, 6], // disposition
  [0x16, 3], // detach
  [0x17, 1], // end
  [0x18, 1], // close
]);

interface Performative {
  readonly value: unknown[];
  readonly constructor: { readonly descriptor?: { readonly numeric: number } };
  handle_max?: number;
}

/**
 * The protocol lets the last fields be left out where they are null, and rhea does; Microsoft's Python client reads
 * them by position and would fail with "list index out of range". It also compares handles with `handle_max` without
 * knowing the default.
 */
function writeFullFrames(connection: Connection): void {
  type Write = (channel: number, performative?: Performative, payload?: Buffer) => void;
  const write: Write = connection._write_frame.bind(connection);
  const writeFull: Write = (channel, performative, payload) => {
    const count = fieldCounts.get(performative?.constructor.descriptor?.numeric ?? 0);
    if (performative !== undefined && count !== undefined) {
      performative.value.length = count;
      if ('handle_max' in performative) performative.handle_max = 0xffff_ffff;
    }
    write(channel, performative, payload);
  };
  connection._write_frame = writeFull;
}
