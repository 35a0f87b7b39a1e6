import { plural, seconds } from '../../terminal/styled-text.ts';
import { type Destination, isFleet, isPause, type Moment, nameOf, type Show } from './model.ts';

/** A moment as a line, for what is not a terminal. `before`: the show without this moment. Null: not worth a line. */
export function plainLine(moment: Moment, before: Show): string | null {
  const line = isFleet(before) ? ofFleet(moment, before) : ofVm(moment, before);
  if (line === null) return null;
  const [subject, text] = line;
  return `${moment.at.toFixed(1).padStart(6)} s  ${subject.padEnd(11)}${text}`;
}

type Line = readonly [subject: string, text: string];

/** Only what Azure does, with what has arrived by then. */
function ofFleet(moment: Moment, { vms, hub, table, transitionIds }: Show): Line | null {
  if (moment.kind === 'polling') return moment.vms === vms.length ? ['bridges', `all ${vms.length} poll`] : null;
  if (moment.kind !== 'azure') return null;
  const { eventType, resources, step } = moment;
  const arrived = `${plural(hub.recordIds.length, 'record')} on the event hub, ${table.recordIds.length} in the table, ${plural(transitionIds.size, 'transition')}`;
  return ['Azure', `${eventType} of ${plural(resources.length, 'VM')} ${step}; so far ${arrived}`];
}

function ofVm(moment: Moment, { hub, table, events }: Show): Line | null {
  switch (moment.kind) {
    case 'polling':
      return null;
    case 'azure': {
      const { eventId, eventType, step, incarnation } = moment;
      return ['Azure', `${nameOf(events, eventId, eventType)} ${step} (incarnation ${incarnation})`];
    }
    case 'hub': {
      const { recordId, eventId, eventType, phase, evidence, observedPauseMs } = moment.record;
      const name = nameOf(events, eventId, eventType);
      const paused = isPause(observedPauseMs) ? `; paused ${seconds(observedPauseMs / 1000)}` : '';
      return ['event hub', `${name} ${phase}: ${evidence.join(', ')}${paused}${copyMark(hub, recordId)}`];
    }
    case 'table': {
      const { recordId, eventId, eventType, phase } = moment.row;
      return ['table', `${nameOf(events, eventId, eventType)} ${phase}${copyMark(table, recordId)}`];
    }
    case 'bridge':
      return ['bridge', bridgeWords[moment.state]];
    case 'outage':
      return ['event hub', moment.begins ? 'refuses connections' : 'accepts connections again'];
    case 'pending':
      return moment.records === 0 ? null : ['bridge', `${plural(moment.records, 'record')} pending for the event hub`];
  }
}

const copyMark = ({ recordIds }: Destination, recordId: string): string =>
  recordIds.includes(recordId) ? ' (duplicate)' : '';

const bridgeWords = {
  starting: 'starts',
  running: 'runs',
  frozen: 'is frozen (SIGSTOP)',
  killed: 'is killed (kill -9)',
} as const;
