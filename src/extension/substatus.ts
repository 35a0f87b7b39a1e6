import { formatDuration } from '../clock.ts';
import { pollRemark } from '../health/poll-condition.ts';
import { sinkClause, sinkState } from '../health/sink-condition.ts';
import type { Snapshot } from '../health/snapshot.ts';
import type { ServiceAnswer } from '../health/status-client.ts';
import { labelOf, sinks } from '../sinks/registry.ts';
import type { StatusWord, Substatus } from './status-file.ts';

/** One substatus each for the service, the metadata service and every configured sink, as the running service reports them. */
export function substatusesOf(answer: ServiceAnswer, now: Date): readonly Substatus[] {
  if (answer.kind !== 'answered') {
    const message =
      'The service runs, but did not answer a status request. Run "scheduled-events-bridge status" on the VM.';
    return [{ name: 'service', status: 'warning', message }];
  }
  const { snapshot } = answer;
  return [
    { name: 'service', ...ofService(snapshot) },
    { name: 'imds', ...ofMetadata(snapshot) },
    ...snapshot.outbox.sinks
      .filter(({ configured }) => configured)
      .map((sink) => ({ name: keyOf(sink.name), ...ofSink(sink, snapshot, now) })),
  ];
}

/** As the configuration names the sink: `eventHubs`. */
const keyOf = (name: string): string => sinks.find((sink) => sink.name === name)?.key ?? name;

type Judged = Pick<Substatus, 'status' | 'message'>;

function ofService({ version, stuck, storage, isStopping }: Snapshot): Judged {
  const [first] = stuck;
  if (first !== undefined) return { status: 'error', message: first };
  if (storage.fault !== null) {
    return { status: 'error', message: `Records cannot be written to disk: ${storage.fault.reason}` };
  }
  if (isStopping) return { status: 'warning', message: `Version ${version} is stopping.` };
  return { status: 'success', message: `Version ${version} runs.` };
}

function ofMetadata({ poll }: Snapshot): Judged {
  const remark = pollRemark(poll);
  if (remark?.isProblem) return { status: 'error', message: remark.message };
  if (remark !== null) return { status: 'transitioning', message: `Polling; ${remark.message}.` };
  return {
    status: 'success',
    message: `Polling every ${poll.intervalSeconds} s; the last document came ${formatDuration(poll.documentAgeSeconds ?? 0)} ago.`,
  };
}

const words: Readonly<Record<ReturnType<typeof sinkState>, StatusWord>> = {
  idle: 'success',
  delivering: 'success',
  retrying: 'warning',
  refused: 'error',
  stopped: 'warning',
  'not-configured': 'success',
};

function ofSink(sink: Snapshot['outbox']['sinks'][number], { holdSeconds = {} }: Snapshot, now: Date): Judged {
  const { name, configured, counters, progress, oldestPendingAt } = sink;
  const figures = { configured, waiting: counters.pending, oldestWaitingAt: oldestPendingAt, progress };
  const state = sinkState(figures, true);
  const clause = sinkClause(labelOf(name), figures, now, holdSeconds[name]);
  if (clause !== null) {
    const reason = state === 'delivering' ? '' : (progress.lastErrorReason ?? '');
    const status = state === 'delivering' ? 'warning' : words[state];
    return { status, message: reason === '' ? `${clause}.` : `${clause}: ${reason}` };
  }
  const waiting = counters.pending === 0 ? 'nothing is waiting for delivery' : `${counters.pending} waiting`;
  const last = progress.lastSuccessAt === null ? 'nothing was sent yet' : `last delivery ${progress.lastSuccessAt}`;
  return { status: words[state], message: `${labelOf(name)}: ${waiting}; ${last}.` };
}
