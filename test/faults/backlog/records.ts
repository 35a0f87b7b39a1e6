import { createHash } from 'node:crypto';
import type { LifecycleRecord, Phase } from '../../../src/lifecycle/record.ts';
import { stepOf } from '../../../src/lifecycle/record-id.ts';
import type { Outbox } from '../../../src/outbox/outbox.ts';
import type { Random } from '../../fleet-model/random.ts';
import { sampleRecord } from '../../support/sample-record.ts';
import type { Announced } from '../fleet/announced.ts';

export interface Backlog {
  /** In the order in which they were observed, events side by side. */
  readonly records: readonly LifecycleRecord[];
  readonly announced: readonly Announced[];
}

export interface BacklogOptions {
  readonly vm?: string;
  /** Of the last record that the stream has already, and the stream itself. */
  readonly after: { readonly streamId: string; readonly position: number };
  readonly count: number;
  /** Distinguishes the events from those of another backlog. */
  readonly name: string;
  /** When the record with this index was observed. */
  readonly observedAt?: (index: number) => Date;
}

const phases: readonly Phase[] = ['Scheduled', 'Updated', 'Started', 'Completed'];
/** Events that overlap at any time. */
const overlapping = 5;

/**
 * Records that wait: freezes of one VM, from the announcement to the end. The last events may be cut off before their ends.
 */
export function backlogOf(random: Random, options: BacklogOptions): Backlog {
  const { vm = 'web_0', after, count, name, observedAt = () => new Date() } = options;
  const records: LifecycleRecord[] = [];
  const announced: Announced[] = [];
  const going: { readonly eventId: string; readonly steps: Announced['steps'][number][] }[] = [];
  for (let index = 0; index < count; index += 1) {
    if (going.length < overlapping) {
      const one = { eventId: guidOf(`${name} ${announced.length}`), steps: [] };
      going.push(one);
      announced.push({ ...one, eventType: 'Freeze' });
    }
    const event = random.pick(going);
    const phase = phases[event.steps.length] ?? 'Completed';
    const sequence = event.steps.push(stepOf(phase));
    if (phase === 'Completed') going.splice(going.indexOf(event), 1);
    const at = observedAt(index).toISOString();
    records.push(
      sampleRecord({
        recordId: guidOf(`${event.eventId} ${sequence}`).replaceAll('-', ''),
        transitionId: guidOf(`${event.eventId} ${phase}`).replaceAll('-', ''),
        eventId: event.eventId,
        phase,
        sequence,
        streamId: after.streamId,
        position: after.position + 1 + index,
        observedAt: at,
        firstSeenAt: at,
        // Far off, so that nothing is urgent.
        notBefore: new Date(Date.parse(at) + 3_600_000).toISOString(),
        vmName: vm,
      }),
    );
  }
  return { records, announced: announced.filter(({ steps }) => steps.length > 0) };
}

/** Fills an outbox and closes it. */
export function store(outbox: Pick<Outbox, 'state' | 'append' | 'close'>, { records }: Pick<Backlog, 'records'>): void {
  outbox.append({ ...outbox.state, position: outbox.state.position + records.length }, records);
  outbox.close();
}

function guidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex').toUpperCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}
