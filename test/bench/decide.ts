import { parseDocument } from '../../src/imds/document.ts';
import { longestBodyBytes } from '../../src/imds/exchange.ts';
import { emptyState, type LifecycleState } from '../../src/lifecycle/state.ts';
import { gapAfterMs, transition } from '../../src/lifecycle/transition.ts';
import { noon, observerNamed } from '../support/observations.ts';
import { median } from './process-figures.ts';

const counts = [1, 100, 1000] as const;
const rounds = 5;
/** A round repeats its work for this long. */
const roundMs = 200;

/**
 * The processor time from the text of a document to the decision, beside JSON.parse alone: for events that are new and of which each
 * names this VM, so that each is a record, and for the next document, in which one field of each has changed.
 */
export async function decide(): Promise<void> {
  const line = (...cells: readonly string[]): void => void process.stdout.write(`| ${cells.join(' | ')} |\n`);
  line(
    'events',
    'resources of each',
    'KB',
    'JSON.parse, ms',
    'new events, ms',
    'ratio',
    'changed events, ms',
    'ratio',
    'ms for each event',
  );
  line(...new Array(9).fill('---'));
  for (const events of counts)
    for (const resources of counts) {
      const [first, second] = [documentOf(events, resources, 5), documentOf(events, resources, 6)];
      const head = [String(events), String(resources), (Buffer.byteLength(first) / 1024).toFixed(0)];
      if (Buffer.byteLength(first) > longestBodyBytes) {
        line(...head, '-', 'refused: too long', '-', '-', '-', '-');
        continue;
      }
      const before = decideOne(emptyState('stream'), first, 1);
      const parseMs = medianMs(() => JSON.parse(first));
      const newMs = medianMs(() => decideOne(emptyState('stream'), first, 1));
      const changedMs = medianMs(() => decideOne(before, second, 2));
      const ratio = (ms: number): string => (ms / parseMs).toFixed(1);
      line(
        ...head,
        parseMs.toFixed(3),
        newMs.toFixed(3),
        ratio(newMs),
        changedMs.toFixed(3),
        ratio(changedMs),
        (newMs / events).toFixed(4),
      );
    }
}

function decideOne(state: LifecycleState, body: string, seconds: number): LifecycleState {
  const parsed = parseDocument(body, '2020-07-01');
  if (parsed.kind !== 'document') throw new Error(`the document is refused: ${parsed.reason}`);
  const at = new Date(noon + seconds * 1000);
  const seen = { ...parsed, imdsApiVersion: '2020-07-01', azureTime: at, clockOffsetSeconds: 0 };
  const { state: after, records } = transition(state, seen, {
    host: { bootId: 'boot', physicalHost: null, tick: null, wallStepMs: 0 },
    observer: observerNamed('web_0'),
    scope: { witnessRate: 0 },
    gapAfterMs: gapAfterMs(1),
    enablingMs: 0,
    bridgeVersion: '0.1.0',
    at,
    monotonicMs: seconds * 1000,
  });
  const { length } = parsed.document.events;
  if (records.filter(({ phase }) => phase !== 'Snapshot').length !== length)
    throw new Error(`${records.length} records of ${length} events`);
  return after;
}

function documentOf(events: number, resources: number, durationSeconds: number): string {
  return JSON.stringify({
    DocumentIncarnation: durationSeconds,
    Events: Array.from({ length: events }, (_, event) => ({
      EventId: `00000000-0000-4000-8000-${String(event).padStart(12, '0')}`,
      EventStatus: 'Scheduled',
      EventType: 'Freeze',
      ResourceType: 'VirtualMachine',
      Resources: Array.from({ length: resources }, (_, resource) => `web_${resource}`),
      NotBefore: new Date(noon + 900_000).toUTCString(),
      Description: 'Virtual machine is being paused because of a memory-preserving Live Migration operation.',
      EventSource: 'Platform',
      DurationInSeconds: durationSeconds,
    })),
  });
}

/** Of the processor time of this thread, which a busy machine changes less than the time that passes. */
function medianMs(work: () => unknown): number {
  work();
  return median(
    Array.from({ length: rounds }, () => {
      const began = process.threadCpuUsage();
      let [times, usedMs] = [0, 0];
      while (usedMs < roundMs) {
        work();
        times += 1;
        const { user, system } = process.threadCpuUsage(began);
        usedMs = (user + system) / 1000;
      }
      return usedMs / times;
    }),
  );
}
