import { colours, eventTypes } from '../workbooks/colours.ts';
import type { ColumnStyle, Urgency } from '../workbooks/panel.ts';
import type { Json } from './json.ts';

/** How the columns of a table of Grafana look, as overrides of their fields. */

export const urgencyColours: Readonly<Record<Urgency, string>> = { act: 'red', watch: 'orange', fine: 'green' };

const property = (id: string, value: unknown): Json => ({ id, value });

/** The overrides of one column; `links` are those of a column that can be clicked. */
export function override(look: ColumnStyle, links: readonly Json[]): Json[] {
  const { column, label, andColumns = [] } = look;
  const shared = sharedStyle(look);
  const own = [
    ...(label === undefined ? [] : [property('displayName', label)]),
    ...(links.length === 0 ? [] : [property('links', links)]),
  ];
  return [
    ...(own.length === 0 ? [] : [{ matcher: { id: 'byName', options: column }, properties: own }]),
    ...(shared.length === 0 ? [] : [{ matcher: matching([column, ...andColumns]), properties: shared }]),
  ];
}

const matching = (names: readonly string[]): Json =>
  names.length === 1 ? { id: 'byName', options: names[0] } : { id: 'byRegexp', options: `/^(${names.join('|')})$/` };

const sharedStyle = ({ unit, as, signs }: ColumnStyle): Json[] => [
  ...(unit === undefined ? [] : [property('unit', unit)]),
  ...(as === undefined ? [] : styleOf[as]),
  ...(signs === undefined ? [] : signed(signs)),
];

const styleOf: Readonly<Record<NonNullable<ColumnStyle['as']>, readonly Json[]>> = {
  bar: [property('custom.cellOptions', { type: 'gauge', mode: 'basic' }), property('min', 0)],
  heat: [
    property('custom.cellOptions', { type: 'color-background', mode: 'gradient' }),
    property('color', { mode: 'continuous-YlRd' }),
    property('min', 0),
  ],
  time: [property('unit', 'dateTimeAsSystem')],
  resource: [property('custom.width', 320)],
  hidden: [property('custom.hidden', true)],
  'event type': [
    property('custom.cellOptions', { type: 'color-text' }),
    property(
      'mappings',
      eventTypes.map((type) => ({
        type: 'regex',
        options: { pattern: `^(.*${type}.*)$`, result: { text: '$1', color: colours[type]?.hex } },
      })),
    ),
  ],
};

const signed = (signs: Readonly<Record<string, Urgency>>): Json[] => [
  property('custom.cellOptions', { type: 'color-text' }),
  property('mappings', [
    {
      type: 'value',
      options: Object.fromEntries(
        Object.entries(signs).map(([text, urgency]) => [text, { text, color: urgencyColours[urgency] }]),
      ),
    },
  ]),
];
