import { InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../clock.ts';
import { closest } from '../../config/did-you-mean.ts';
import { phases } from '../../lifecycle/record.ts';
import { eventTypes } from '../../lifecycle/scheduled-event.ts';
import { mayColour } from '../../process/text-format.ts';
import type { TransitionFilter } from '../../tail/filter.ts';
import type { FleetFeed } from '../../tail/fleet-feed.ts';
import type { TailOutput } from '../../tail/output.ts';
import { type CommandContext, describeVerb, type Verb } from '../command-context.ts';
import { Failure, sinkReasons } from '../exit-codes.ts';
import { canRedraw, stopOrReaderGone } from '../live-output.ts';
import { readTime } from '../outbox/filter.ts';
import { addHubOptions, type HubArguments, readHubSettings } from './hub-options.ts';
import { openFleetPageOn, webPort } from './page.ts';

interface TailArguments extends HubArguments {
  readonly from?: From;
  readonly vm?: readonly string[];
  readonly event?: string;
  readonly type?: readonly string[];
  readonly phase?: readonly string[];
  readonly mine?: true;
  readonly tests?: true;
  readonly json?: true;
  readonly web?: number;
}

type From = { readonly at: Date };

/** `tail`: follows the event hub. */
export const addTail: Verb = (program, commandContext) => {
  const command = addHubOptions(
    program
      .command('tail')
      .description('follow the event hub: one line for each step of an event, however many VMs report it'),
  )
    .addOption(fromOption())
    .addOption(listOption('--vm <name>', 'only events of this VM; may be repeated, as the next ones', (text) => text))
    .option('--event <id>', 'only this event; the beginning of its id is enough')
    .addOption(listOption('--type <type>', 'only events of this type, such as Freeze or Reboot', (text) => text))
    .addOption(listOption('--phase <phase>', 'only steps to this phase, such as Started', phaseName))
    .option('--mine', 'only what an affected VM reported itself, not what only other VMs saw')
    .option('--tests', 'also records that emit-test wrote')
    .option('--json', 'print one JSON object per line')
    .option('--web <port>', 'also serve the fleet as a page on this port of 127.0.0.1; 0: any free one', webPort);
  describeVerb(
    command,
    ...sinkReasons.filter((reason) => reason === 'eventHubsFailed'),
    'configuration',
    'notDone',
  ).action((options: TailArguments) => runTail(options, commandContext));
};

const fromOption = () =>
  new Option(
    '--from <time>',
    'print what happened since: start, now, 2026-01-31T09:00Z, or how long ago, such as 90m, 12h, 7d (default: all steps of events that are open)',
  ).argParser((text): From => {
    if (text === 'start') return { at: new Date(0) };
    const at = text === 'now' ? new Date() : readTime(text, new Date(), ['start', 'now']);
    if (at.getTime() > Date.now()) throw new InvalidArgumentError('expected a time in the past.');
    return { at };
  });

const listOption = (flags: string, description: string, parse: (text: string) => string) =>
  new Option(flags, description).argParser((text, before: readonly string[] = []) => [...before, parse(text)]);

const shownPhases = phases.filter((phase) => phase !== 'Snapshot');

function phaseName(text: string): string {
  const found = shownPhases.find((phase) => phase.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  const near = closest(text, shownPhases);
  throw new InvalidArgumentError(near ? `did you mean ${near}?` : `expected one of ${shownPhases.join(', ')}.`);
}

/** About types that are followed all the same: Azure may add one. */
export const unknownTypes = (types: readonly string[]): readonly string[] =>
  types
    .filter((type) => !eventTypes.some((known) => known.toLowerCase() === type.toLowerCase()))
    .map((type) => {
      const near = closest(type, eventTypes);
      return `No event type ${type} is known${near ? `; did you mean ${near}?` : `: they are ${eventTypes.join(', ')}.`}`;
    });

async function runTail(options: TailArguments, commandContext: CommandContext): Promise<void> {
  const settings = readHubSettings(options, commandContext);
  const stop = stopOrReaderGone(commandContext.stop);
  const [{ openHub }, { openFleetFeed }, { operatorCredential }, { tail, noticeOf }, { HubRefused }] =
    await Promise.all([
      import('../../tail/hub.ts'),
      import('../../tail/fleet-feed.ts'),
      import('../../tail/credential.ts'),
      import('../../tail/tail.ts'),
      import('../../tail/refusal.ts'),
    ]);
  for (const warning of [...settings.warnings, ...unknownTypes(options.type ?? [])]) warn(`${warning}\n`);
  try {
    const { eventHubs: config, clientId } = settings;
    const { consumerGroup } = options;
    const hub = await openHub({ config, consumerGroup, credential: operatorCredential(clientId) }, stop);
    try {
      const isOnPage = options.web !== undefined && { rememberHours: pageHours };
      const keepSince = options.from?.at ?? new Date();
      const feed = await openFleetFeed(hub, { includeTests: options.tests === true, keepSince, ...isOnPage });
      const page = options.web === undefined ? null : await openPage(feed, options.web);
      const filter = filterOf(options);
      const output = await openOutput(options, { feed, filter, hub: hub.name }, commandContext);
      await tail({
        feed,
        filter,
        onlyOwn: options.mine === true,
        from: options.from?.at ?? null,
        output,
        clock: systemClock,
        stop,
      }).finally(() => page?.close());
      await feed.close();
    } finally {
      await hub.close();
    }
  } catch (error) {
    if (stop.aborted) return;
    if (error instanceof HubRefused) throw new Failure('eventHubsFailed', noticeOf(error.problem));
    throw error;
  }
}

/** The page shows two weeks. */
const pageHours = 14 * 24;

/** Says where the page is. @throws Failure if the port cannot be used; the feed is closed then. */
async function openPage(feed: FleetFeed, port: number) {
  try {
    const page = await openFleetPageOn(feed, port);
    warn(`The fleet is at ${page.url}\n`);
    return page;
  } catch (error) {
    await feed.close();
    throw error;
  }
}

const filterOf = ({ vm = [], event, type = [], phase = [] }: TailArguments): TransitionFilter => ({
  vms: vm,
  event: event ?? null,
  types: type,
  phases: phase,
});

/** About the tail, for people: stdout is for what is tailed. */
function warn(text: string): void {
  if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
  process.stderr.write(text);
}

async function openOutput(
  { json }: Pick<TailArguments, 'json'>,
  shown: { readonly feed: FleetFeed; readonly filter: TransitionFilter; readonly hub: string },
  { print, env }: CommandContext,
): Promise<TailOutput> {
  const { lineOutput, terminalOutput } = await import('../../tail/output.ts');
  const { stdout } = process;
  const colour = mayColour(stdout, env);
  if (json || !canRedraw(stdout, env)) {
    const columns = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
    return lineOutput(print, warn, { hub: shown.hub, json: json === true, colour, columns });
  }
  const { concernsEvent } = await import('../../tail/filter.ts');
  const output = terminalOutput(print, stdout, {
    ...shown,
    isShown: (event) => concernsEvent(shown.filter, event),
    colour,
  });
  // Also if the process is ended at once: the cursor is hidden.
  process.once('exit', () => output.close());
  return output;
}
