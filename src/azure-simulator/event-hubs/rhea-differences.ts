import type { Connection } from 'rhea';

/** Where rhea, left to itself, does otherwise than the service, to the harm of some client. */
export function speakLikeTheService(connection: Connection): void {
  tolerateLateFrames(connection);
  keepMessagesEncoded(connection);
  writeFullFrames(connection);
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
