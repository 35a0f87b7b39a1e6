import { plural, seconds, wasFelt } from './figures.ts';
import { type Destination, nameOf, type Show } from './model.ts';
import type { Moment } from './moment.ts';

/** The same show as lines, for what is no terminal. `before`: the show without this moment. Null: not worth a line. */
export function plainLine(moment: Moment, before: Show): string | null {
  const told = tell(moment, before);
  if (told === null) return null;
  const [who, what] = told;
  return `${moment.at.toFixed(1).padStart(6)} s  ${who.padEnd(11)}${what}`;
}

function tell(moment: Moment, { hub, table, events }: Show): readonly [who: string, what: string] | null {
  switch (moment.kind) {
    case 'azure':
      return [
        'Azure',
        `${nameOf(events, moment.eventId, moment.eventType)} ${moment.step} (incarnation ${moment.incarnation})`,
      ];
    case 'hub': {
      const { recordId, eventId, eventType, phase, evidence, observedPauseMs } = moment.record;
      const name = nameOf(events, eventId, eventType);
      const paused = wasFelt(observedPauseMs) ? `; paused ${seconds(observedPauseMs / 1000)}` : '';
      return ['event hub', `${name} ${phase}: ${evidence.join(', ')}${paused}${again(hub, recordId)}`];
    }
    case 'table': {
      const { recordId, eventId, eventType, phase } = moment.row;
      return ['table', `${nameOf(events, eventId, eventType)} ${phase}${again(table, recordId)}`];
    }
    case 'bridge':
      return ['bridge', bridgeWords[moment.state]];
    case 'outage':
      return ['event hub', moment.begins ? 'refuses connections from now on' : 'takes connections again'];
    case 'waiting':
      return moment.records === 0 ? null : ['bridge', `keeps ${plural(moment.records, 'record')} for the event hub`];
  }
}

const again = ({ recordIds }: Destination, recordId: string): string =>
  recordIds.includes(recordId) ? ' (a copy)' : '';

const bridgeWords = {
  starting: 'starts',
  running: 'runs',
  frozen: 'is frozen (SIGSTOP)',
  killed: 'is killed (kill -9)',
} as const;
