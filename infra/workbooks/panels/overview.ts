import { asked, bridges, eventsInTime, type Tab, type Words } from '../panel.ts';
import { eventTypeSigns } from './looks.ts';
import { eventFilters } from '../panel.ts';

const tile = (
  from: string,
  { condition, value = 'count()', place, title, meaning, urgency }: {
    readonly condition: string;
    readonly value?: string;
    readonly place: number;
    readonly title: string;
    readonly meaning: string;
    readonly urgency: 'act' | 'watch' | 'fine';
  },
): string =>
  [
    `(${from}`,
    `    | where ${condition}`,
    `    | summarize Value = ${value}`,
    `    | extend Place = ${place}, Tile = "${title}", Meaning = "${meaning}", IfAny = "${urgency}")`,
  ].join('\n    ');

export const overview: Tab = { name: 'Overview', panels: [] };
