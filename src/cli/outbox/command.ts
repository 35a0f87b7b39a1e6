import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RecordDetails } from '../../outbox/list-deliveries.ts';
import type { DeliveryState } from '../../outbox/outbox.ts';
import { sinks } from '../../sinks/registry.ts';
import { type CommandContext, describeVerb, type Verb } from '../command-context.ts';
import { type ExitReason, Failure } from '../exit-codes.ts';
import { addRecordOptions, type RecordOptions, recordFilterOf } from './filter.ts';
import { addStateDirOptions, type StateDirOptions, stateDirectoryOf } from './state-directory.ts';

/** `outbox`: lists and changes what is pending and what was refused. */
export const addOutbox: Verb = (program, commandContext) => {
  const outbox = program
    .command('outbox')
    .description('list pending records and dead letters, send them again, or discard them')
    .helpCommand(false);
  describeVerb(outbox, ...reasons);
  for (const add of [addList, addShow, addRetry, addPurge, addExport]) add(outbox, commandContext);
};

const reasons: readonly ExitReason[] = ['noOutbox', 'notDone', 'newerOutbox', 'configuration'];

/** Sub-commands load what is heavy when they are run. */
function addSub(outbox: Command, name: string, description: string): Command {
  return describeVerb(addStateDirOptions(outbox.command(name).description(description)), ...reasons);
}

const sinkNames = sinks.map(({ name }): string => name);

const sinkOption = () =>
  new Option('--sink <name>', `only this destination: ${sinkNames.join(', ')}`).argParser((name) => {
    const sink = sinks.find((known) => known.name === name || known.key === name);
    if (sink) return sink.name;
    throw new InvalidArgumentError(`expected one of ${sinkNames.join(', ')}.`);
  });

type StateWord = DeliveryState | 'all';
const stateOption = () =>
  new Option('--state <state>', 'only deliveries in this state (default: pending and dead)').choices([
    'pending',
    'dead',
    'delivered',
    'abandoned',
    'all',
  ]);

const statesOf = (state: StateWord | undefined): readonly DeliveryState[] => {
  if (state === undefined) return ['pending', 'dead'];
  return state === 'all' ? ['pending', 'dead', 'delivered', 'abandoned'] : [state];
};

/** The version of what `show` prints; it grows when a field is removed. */
const entryVersion = 1;

interface Chosen extends StateDirOptions, RecordOptions {
  readonly sink?: string;
  readonly state?: StateWord;
}

function addList(outbox: Command, { env, print }: CommandContext): void {
  addRecordOptions(addSub(outbox, 'list', 'list pending records and dead letters, newest last'))
    .addOption(sinkOption())
    .addOption(stateOption())
    .addOption(
      new Option('--limit <count>', 'the number of newest entries')
        .default(100)
        .argParser(wholeNumber(1, 'a whole number from 1 on')),
    )
    .option('--json', 'print one JSON object instead of a table')
    .action(async ({ sink, state, limit, json, ...where }: Chosen & Listing) => {
      const { directory } = stateDirectoryOf(where, env);
      const { listDeliveries } = await import('../../outbox/list-deliveries.ts');
      const { foundIn } = await import('./read.ts');
      const { listJson, listPage } = await import('./list.ts');
      await refuseUnknownSink(directory, sink);
      const filter = { ...recordFilterOf(where), states: statesOf(state), sink, limit };
      const deliveries = foundIn(directory, () => listDeliveries(directory, filter));
      print(json ? listJson(deliveries, new Date()) : listPage(deliveries));
    });
}

interface Listing {
  readonly limit: number;
  readonly json?: true;
}

function addShow(outbox: Command, { env, print }: CommandContext): void {
  addSub(outbox, 'show', 'print one record and its deliveries, as JSON')
    .addArgument(outbox.createArgument('<position>', 'its position, as listed').argParser(positionArgument))
    .action(async (position: number, where: StateDirOptions) => {
      const { directory } = stateDirectoryOf(where, env);
      print(`${JSON.stringify({ entryVersion, ...(await entryAt(directory, position)) }, null, 2)}\n`);
    });
}

/** @throws Failure where there is no record at this position. */
async function entryAt(directory: string, position: number): Promise<RecordDetails> {
  const { readRecord } = await import('../../outbox/list-deliveries.ts');
  const { foundIn } = await import('./read.ts');
  const { details, newest } = foundIn(directory, () => readRecord(directory, position));
  if (details) return details;
  const why = position > newest ? `the newest is ${newest}` : 'delivered ones are kept for 7 days, or 16 MB of them';
  throw new Failure('notDone', `There is no record at position ${position}: ${why}.`);
}

function addRetry(outbox: Command, { env, print, stop }: CommandContext): void {
  addSub(outbox, 'retry', 'resend dead letters with unchanged ids, or send pending records now')
    .addArgument(outbox.createArgument('[position]', 'position of one dead letter').argParser(positionArgument))
    .option('--all', 'all dead letters')
    .option('--now', 'send pending records now instead of at the next attempt')
    .addOption(sinkOption())
    .action(async (position: number | undefined, { all, now, sink, ...where }: Chosen & Retrying) => {
      refuseUnclear({ POSITION: position !== undefined, '--all': all, '--now': now });
      const { directory } = stateDirectoryOf(where, env);
      await refuseUnknownSink(directory, sink);
      if (position !== undefined) await entryAt(directory, position);
      if (now) {
        const { tryNow } = await import('./try-now.ts');
        return print(`${await tryNow(directory, sink, stop)}\n`);
      }
      const { changeOutbox } = await import('./change.ts');
      print(`${await changeOutbox(directory, { verb: 'retry', argument: { sink, position } }, stop)}\n`);
    });
}

/** Exactly one of these has to be given. */
function refuseUnclear(choices: Readonly<Record<string, boolean | undefined>>): void {
  const given = Object.keys(choices).filter((name) => choices[name]);
  if (given.length === 1) return;
  throw new Failure(
    'usage',
    given.length > 1
      ? `${given.join(' and ')} exclude each other: use one of them.`
      : 'Name what to retry: a POSITION (see outbox list --state dead), --all dead letters, or --now for pending records.',
  );
}

interface Retrying {
  readonly all?: true;
  readonly now?: true;
}

function addPurge(outbox: Command, { env, print, stop }: CommandContext): void {
  addSub(outbox, 'purge', 'discard dead letters or pending records: they will never be delivered')
    .addArgument(
      outbox.createArgument('[position]', 'position of one record (default: all)').argParser(positionArgument),
    )
    .addOption(
      new Option('--state <state>', 'what to discard (required)').choices(['dead', 'pending']).makeOptionMandatory(),
    )
    .addOption(sinkOption())
    .option('--yes', 'skip the confirmation')
    .action(
      async (
        position: number | undefined,
        { state, sink, yes, ...where }: StateDirOptions & Pick<Chosen, 'sink'> & Purging,
      ) => {
        const { directory } = stateDirectoryOf(where, env);
        await refuseUnknownSink(directory, sink);
        if (position !== undefined) await entryAt(directory, position);
        const { purgeOutbox } = await import('./purge.ts');
        await purgeOutbox(directory, { state, sink, position, yes: yes === true }, { print, stop });
      },
    );
}

interface Purging {
  readonly state: 'dead' | 'pending';
  readonly yes?: true;
}

function addExport(outbox: Command, { env, print, stop }: CommandContext): void {
  addRecordOptions(addSub(outbox, 'export', 'print records, oldest first, one JSON document per line'))
    .addOption(sinkOption())
    .addOption(stateOption())
    .action(async ({ sink, state, ...where }: Chosen) => {
      const { directory } = stateDirectoryOf(where, env);
      await refuseUnknownSink(directory, sink);
      const { exportRecords } = await import('../../outbox/list-deliveries.ts');
      const filter = { ...recordFilterOf(where), states: statesOf(state), sink };
      for (const json of exportRecords(directory, filter)) {
        if (stop.aborted) return;
        print(`${json}\n`);
        await nextTurn();
      }
    });
}

/** An unknown sink has no deliveries, which would hide a misspelt name. */
async function refuseUnknownSink(directory: string, sink: string | undefined): Promise<void> {
  const { foundIn } = await import('./read.ts');
  const { readOutbox } = await import('../../outbox/reader.ts');
  const names = foundIn(directory, readOutbox).sinks.map(({ name }) => name);
  if (sink === undefined || names.includes(sink)) return;
  throw new Failure('usage', `There is no destination "${sink}"; there is ${names.join(' and ') || 'none'}.`);
}

function wholeNumber(least: number, expected: string) {
  return (text: string): number => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= least)) throw new InvalidArgumentError(`expected ${expected}.`);
    return value;
  };
}

const positionArgument = wholeNumber(1, 'a position, 1 or more');
