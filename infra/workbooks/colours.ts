/** One colour for one meaning, in the workbook, in Grafana and in the preview. */
export interface Colour {
  /** Name in the palette of workbooks: https://learn.microsoft.com/azure/azure-monitor/visualize/workbooks-renderers */
  readonly workbook: string;
  /** For Grafana and the preview. */
  readonly hex: string;
}

const red = { workbook: 'redBright', hex: '#c4314b' };
const orange = { workbook: 'orange', hex: '#f0a30a' };
const blue = { workbook: 'blue', hex: '#4f9bd9' };
const green = { workbook: 'green', hex: '#5aa469' };
const grey = { workbook: 'gray', hex: '#b9b9b9' };

/** By the text in a legend or a cell. Texts that are not listed get a colour of the palette. */
export const colours: Readonly<Record<string, Colour>> = {
  Freeze: blue,
  Reboot: orange,
  Redeploy: { workbook: 'brown', hex: '#a5571c' },
  Preempt: red,
  Terminate: { workbook: 'purple', hex: '#7a3e9d' },
  Reimage: { workbook: 'turquoise', hex: '#2f8f83' },
  Available: green,
  Unavailable: red,
  Degraded: orange,
  Unknown: grey,
  announced: blue,
  'in progress': orange,
  down: red,
  nothing: grey,
  'announced duration': grey,
  median: blue,
  '95th percentile': orange,
  longest: red,
};

/** The given names that have a colour, each with its colour. */
export const coloured = (names: readonly string[]): readonly (readonly [string, Colour])[] =>
  names.flatMap((name) => {
    const colour = colours[name];
    return colour === undefined ? [] : [[name, colour] as const];
  });

/** The worst first: a cell that names several has the colour of the first one listed here. */
export const eventTypes = ['Terminate', 'Preempt', 'Redeploy', 'Reimage', 'Reboot', 'Freeze'] as const;
