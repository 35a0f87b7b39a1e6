import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { guidOf } from '../../../src/azure-simulator/guid-of.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLog } from '../../../src/log.ts';
import type { Outbox, OutboxOptions } from '../../../src/outbox/outbox.ts';
import { memoryOf, recordAt } from '../../outbox/harness.ts';
import { observerNamed } from '../../support/observations.ts';
import type { Announced } from '../fleet/announced.ts';

/** A module that opens outboxes: of the sources that are tested, or of an earlier release. */
export interface OutboxModule {
  openOutbox(options: OutboxOptions): Outbox;
}

export const outboxModule = async (sources: string): Promise<OutboxModule> =>
  (await import(pathToFileURL(join(sources, 'outbox/durable-outbox.ts')).href)) as OutboxModule;

export const openIn = (
  { openOutbox }: OutboxModule,
  directory: string,
  { sinks = ['stdout'], log = silentLog, clock = systemClock }: Partial<OutboxOptions> = {},
): Outbox => openOutbox({ directory, sinks, maxMegabytes: 256, clock, log, version: '0.1.0' });

/** Events of the VM that ended long ago, of which the sink has yet to get every record. */
export interface Backlog {
  readonly announced: readonly Announced[];
  readonly recordIds: readonly string[];
}

/**
 * Fills an outbox with ended events of this VM, two records each, and leaves it open.
 * @param vm a VM of the simulator, whose `vmId` it names.
 */
export function fillOutbox(outbox: Outbox, vm: string, events: number): Backlog {
  outbox.rememberObserver(observerNamed(vm, { vmId: guidOf(`vm ${vm}`) }), 'an earlier boot');
  const announced: Announced[] = [];
  const recordIds: string[] = [];
  for (let n = 1; n <= events; n += 1) {
    const eventId = `BACKLOG-${n}`;
    announced.push({ eventId, eventType: 'Freeze', steps: ['scheduled', 'end'] });
    for (const [index, phase] of (['Scheduled', 'Canceled'] as const).entries()) {
      const { state } = outbox;
      const record = recordAt(state.position + 1, eventId, {
        phase,
        sequence: index + 1,
        streamId: state.streamId,
        recordId: `${eventId}-${phase}`,
        vmName: vm,
        description: 'x'.repeat(600),
      });
      const memory = memoryOf(eventId, { open: index === 0, sequence: index + 1 });
      const events = new Map([...state.events, [eventId.toLowerCase(), memory]]);
      outbox.append({ ...state, position: state.position + 1, events }, [record]);
      recordIds.push(record.recordId);
    }
  }
  return { announced, recordIds };
}

/** Makes a folder for a state directory, with the mode that a bridge gives it. */
export function makeStateFolder(path: string): string {
  mkdirSync(path, { mode: 0o700, recursive: true });
  return path;
}
