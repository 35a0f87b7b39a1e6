import { wrap } from '../../src/cli/wrap.ts';
import type { Assumption } from './assumptions.ts';
import { durationOf, maxCostOf, type Plan } from './plan.ts';
import { phases, type Run, type Step } from './step.ts';

const columns = 100;
const indent = '    ';
/** Where the text beside a label of a step begins. */
const labelled = 14;
/** Of one step; the others are only counted. */
const mostCommands = 10;

export interface PlanTextInput {
  readonly plan: Plan;
  readonly run: Run;
  readonly against: 'azure' | 'simulator';
  readonly assumptions: readonly Pick<Assumption, 'id' | 'claim' | 'unseen' | 'manual'>[];
}

/** What `--plan` prints: lines of at most 100 columns, unless a word is longer. */
export function planText({ plan, run, against, assumptions }: PlanTextInput): string {
  const { steps, leftOut } = plan;
  const place =
    against === 'simulator'
      ? 'against the simulator'
      : `in the subscription ${run.subscription}, region ${run.location}`;
  const sections = [
    [`Acceptance run ${place}`, summaryOf(steps, against), 'Nothing has been changed: this is only the plan.'],
    overview(steps),
    ...phases.flatMap((phase) => {
      const ofPhase = steps.filter((step) => step.phase === phase);
      return ofPhase.length === 0 ? [] : [heading(`Phase ${phase}`), ...ofPhase.map((step) => details(step, run))];
    }),
    rightsOf(steps),
    ...(leftOut.length === 0
      ? []
      : [
          [
            ...heading('Left out by --only or --without, or because --windows is missing'),
            ...list(leftOut.map(({ id, title }) => `${id}: ${title}`)),
          ],
        ]),
    ...assumptionSections(steps, leftOut, assumptions, against),
  ];
  return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** One line: how many steps, the cost and the duration. */
export function summaryOf(steps: readonly Step[], against: 'azure' | 'simulator'): string {
  const cost = against === 'simulator' ? 'free' : `at most ${dollars(maxCostOf(steps))}`;
  return `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}, ${cost}, about ${duration(durationOf(steps))}`;
}

export const dollars = (usd: number): string => `$${usd.toFixed(2)}`;

export function duration(totalMinutes: number): string {
  const whole = Math.ceil(totalMinutes);
  const [hours, rest] = [Math.floor(whole / 60), whole % 60];
  if (hours === 0) return `${rest} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}

const heading = (text: string): string[] => [text, '-'.repeat(text.length)];

function overview(steps: readonly Step[]): string[] {
  const width = Math.max(4, ...steps.map(({ id }) => id.length));
  const titleWidth = columns - width - 27;
  const row = (cells: readonly [string, string, string, string, string]): string => {
    const [phase, id, title, minutes, usd] = cells;
    return `${phase.padEnd(10)}${id.padEnd(width)}  ${title.padEnd(titleWidth)}${minutes.padStart(6)}${usd.padStart(9)}`;
  };
  const rows = steps.flatMap(({ phase, id, title, minutes, cost }, at) => {
    const isFirst = steps[at - 1]?.phase !== phase;
    const [first = '', ...rest] = wrap(title.split(' '), titleWidth);
    return [
      row([isFirst ? phase : '', id, first, String(minutes), dollars(cost.usd)]),
      ...rest.map((line) => `${' '.repeat(width + 12)}${line}`),
    ];
  });
  const total = row(['', '', '', String(durationOf(steps)), dollars(maxCostOf(steps))]);
  return [row(['phase', 'step', 'what it does', 'min', 'at most']), '-'.repeat(total.length), ...rows, total];
}

function details(
  { id, title, lane, needs, creates, rights, cost, minutes, proves, commands }: Step,
  run: Run,
): string[] {
  const beside = lane === undefined ? '' : `, in parallel with steps of other lanes (this lane: ${lane})`;
  const calls = commands?.(run) ?? [];
  return [
    ...wrap(`${id}: ${title}`.split(' '), columns),
    ...label('takes', [`about ${minutes} min${beside}`]),
    ...label('needs', [needs.join(', ')]),
    ...label('creates', creates),
    ...label('costs', [cost.usd === 0 ? '' : `at most ${dollars(cost.usd)}: ${cost.basis}`]),
    ...label('rights', rights),
    ...label('proves', [proves.join(', ')]),
    ...label('commands', shortened(calls.map(commandLine))),
  ];
}

/** A step may issue a command for each of many files. */
function shortened(lines: readonly string[]): readonly string[] {
  return lines.length <= mostCommands
    ? lines
    : [...lines.slice(0, mostCommands), `and ${lines.length - mostCommands} more`];
}

/** Each text in a paragraph of its own beside the label; nothing for no text. */
function label(name: string, texts: readonly string[]): string[] {
  const lines = texts
    .filter((text) => text !== '')
    .flatMap((text) => hanging(text, columns - indent.length - labelled));
  return lines.map((line, at) => `${indent}${(at === 0 ? name : '').padEnd(labelled)}${line}`);
}

/** Wrapped; further lines are indented, so that each of several texts has a visible beginning. */
function hanging(text: string, width: number): string[] {
  const [first = '', ...rest] = wrap(text.split(' '), width - 2);
  return [first, ...rest.map((line) => `  ${line}`)];
}

const list = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => hanging(text, columns - indent.length).map((line) => `${indent}${line}`));

/** To be read, not to be pasted: long words are cut. */
function commandLine(args: readonly string[]): string {
  const words = args.map((arg) => {
    const line = arg.replace(/\s+/g, ' ');
    const short = line.length > 70 ? `${line.slice(0, 69)}…` : line;
    return /^[\w@%+=:,./<>-]+…?$/.test(short) ? short : `'${short}'`;
  });
  return `az ${words.join(' ')}`;
}

function rightsOf(steps: readonly Step[]): string[] {
  const rights = [...new Set(steps.flatMap((step) => step.rights))];
  return [...heading('Rights that the account needs'), ...list(rights.length === 0 ? ['none'] : rights)];
}

/** Which assumptions the steps can prove, and which not. */
function assumptionSections(
  steps: readonly Step[],
  leftOut: readonly Step[],
  assumptions: PlanTextInput['assumptions'],
  against: 'azure' | 'simulator',
): string[][] {
  if (against === 'simulator') return [heading('The simulator proves no assumption about Azure')];
  const reached = new Set(steps.flatMap(({ proves }) => proves));
  const missed = new Set(leftOut.flatMap(({ proves }) => proves));
  const [proved, others] = [
    assumptions.filter(({ id }) => reached.has(id)),
    assumptions.filter(({ id }) => !reached.has(id)),
  ];
  const byOthers = others.filter(({ id }) => missed.has(id));
  const byNone = others.filter(({ id }) => !missed.has(id));
  const section = (title: string, lines: readonly string[]): string[][] =>
    lines.length === 0 ? [] : [[...heading(title), ...list(lines)]];
  return [
    ...section(
      `Assumptions that these steps can prove or refute: ${proved.length} of ${assumptions.length}`,
      proved.map(
        ({ id, claim, unseen }) =>
          `${id}: ${withoutLinks(claim)}${unseen === undefined ? '' : ` (not seen by a run: ${unseen})`}`,
      ),
    ),
    ...section(
      `Assumptions of the steps that are left out: ${byOthers.length}`,
      [byOthers.map(({ id }) => id).join(', ')].filter((line) => line !== ''),
    ),
    ...section(`Assumptions that no run can prove: ${byNone.length}`, [
      ...byReason(byNone).map(([reason, ids]) => `${reason}: ${ids.join(', ')}`),
    ]),
  ];
}

/** The text of each Markdown link. */
const withoutLinks = (text: string): string => text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1');

/** Several assumptions have the same reason why no step can prove them. */
function byReason(
  assumptions: PlanTextInput['assumptions'],
): readonly (readonly [reason: string, ids: readonly string[]])[] {
  const groups = Map.groupBy(assumptions, ({ manual }) => manual?.trim() ?? 'no step of these lists');
  return [...groups].map(([reason, ones]) => [reason, ones.map(({ id }) => id)] as const);
}
