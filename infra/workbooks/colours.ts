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

/** By the text that stands in a legend or a cell. What is not here gets a colour of the palette. */
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
  'Azure at work': orange,
  away: red,
  nothing: grey,
  'Azure said': grey,
  'half up to': blue,
  '95 % up to': orange,
  longest: red,
};

/** Names that charts show, with their colours, of those given. */
export const coloured = (names: readonly string[]): readonly (readonly [string, Colour])[] =>
  names.flatMap((name) => {
    const colour = colours[name];
    return colour === undefined ? [] : [[name, colour] as const];
  });

/** The worst first: where a cell names several, it has the colour of the first one here. */
export const eventTypes = ['Terminate', 'Preempt', 'Redeploy', 'Reimage', 'Reboot', 'Freeze'] as const;
