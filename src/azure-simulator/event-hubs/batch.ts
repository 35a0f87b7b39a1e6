import rhea from 'rhea';
import { binaryOf, sectionCodes, splitSections } from './sections.ts';

/** The message format of a batch: one envelope whose data sections each hold one encoded event. */
export const batchFormat = 0x80013700;

/** What one transfer brings. */
export interface Batch {
  readonly events: readonly Buffer[];
  readonly partitionKey: string | null;
}

/** Opens the payload of a transfer: an envelope, or a single event. */
export function openBatch(payload: Buffer, format: number): Batch {
  const sections = splitSections(payload);
  const events =
    format === batchFormat ? sections.filter(({ code }) => code === sectionCodes.data).map(binaryOf) : [payload];
  const annotations = sections.find(({ code }) => code === sectionCodes.messageAnnotations);
  return { events, partitionKey: annotations === undefined ? null : keyIn(annotations.bytes) };
}

function keyIn(annotations: Buffer): string | null {
  const decoded = rhea.message.decode(annotations).message_annotations as Record<string, unknown> | undefined;
  const key = decoded?.['x-opt-partition-key'];
  return typeof key === 'string' ? key : null;
}
