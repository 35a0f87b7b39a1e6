import rhea from 'rhea';

/**
 * An AMQP message as the sections it consists of, each with its bytes as they came.
 * Decoding and encoding again would lose the numeric types that the producer chose (an int would leave as a uint), so
 * stored events are read, and read back, by whole sections.
 * https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-messaging-v1.0-os.html
 */
export interface Section {
  readonly code: number;
  /** The whole section, descriptor included. */
  readonly bytes: Buffer;
  /** The section without its descriptor: an encoded AMQP value. */
  readonly value: Buffer;
}

export const sectionCodes = {
  header: 0x70,
  deliveryAnnotations: 0x71,
  messageAnnotations: 0x72,
  data: 0x75,
  amqpValue: 0x77,
} as const;

/** @throws when the buffer is not a sequence of described sections. */
export function splitSections(message: Buffer): Section[] {
  const sections: Section[] = [];
  for (let at = 0; at < message.length; ) {
    if (message[at] !== 0x00)
      throw new Error(`no section begins at byte ${at} of a message of ${message.length} bytes`);
    const descriptorEnd = at + 1 + valueLength(message, at + 1);
    const end = descriptorEnd + valueLength(message, descriptorEnd);
    const code = readCode(message, at + 1);
    sections.push({ code, bytes: message.subarray(at, end), value: message.subarray(descriptorEnd, end) });
    at = end;
  }
  return sections;
}

/** The bytes of a section that holds a binary value, as every data section does. */
export function binaryOf({ value }: Section): Buffer {
  return value.subarray(value[0] === 0xa0 ? 2 : 5);
}

/** A delivery- or message-annotations section with these entries. */
export function annotationsSection(
  name: 'delivery_annotations' | 'message_annotations',
  entries: Readonly<Record<string, unknown>>,
): Buffer {
  const encoded = rhea.message.encode({ [name]: { ...entries }, body: '' });
  const code = name === 'delivery_annotations' ? sectionCodes.deliveryAnnotations : sectionCodes.messageAnnotations;
  const section = splitSections(encoded).find((one) => one.code === code);
  if (section === undefined) throw new Error(`${name} were not encoded`);
  return section.bytes;
}

function readCode(message: Buffer, at: number): number {
  if (message[at] === 0x53) return message.readUInt8(at + 1);
  if (message[at] === 0x80) return Number(message.readBigUInt64BE(at + 1));
  throw new Error(`a section is described by type 0x${message[at]?.toString(16)}, not by a number`);
}

/** Length of the encoded value at `at`, its constructor byte included: the upper half of that byte gives the layout. */
function valueLength(message: Buffer, at: number): number {
  const layout = message.readUInt8(at);
  switch (layout >> 4) {
    case 0x4:
      return 1;
    case 0x5:
      return 2;
    case 0x6:
      return 3;
    case 0x7:
      return 5;
    case 0x8:
      return 9;
    case 0x9:
      return 17;
    case 0xa:
    case 0xc:
    case 0xe:
      return 2 + message.readUInt8(at + 1);
    case 0xb:
    case 0xd:
    case 0xf:
      return 5 + message.readUInt32BE(at + 1);
    default:
      throw new Error(`0x${layout.toString(16)} begins no AMQP value`);
  }
}
