import { createInterface } from 'node:readline/promises';
import { type ApproveAnswer, approveRequest } from '../approver/manual.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import { isInCluster, notInCluster } from '../host/in-cluster.ts';
import type { Imds } from '../imds/client.ts';
import type { ApproveRequest } from '../lifecycle/approval-request.ts';
import { type ApprovalTerms, termsOf } from '../lifecycle/approval-terms.ts';
import type { PollResult, ScheduledEvent } from '../lifecycle/scheduled-event.ts';
import type { Log } from '../log.ts';
import { type CommandContext, configFileOption, describeVerb, type Verb } from './command-context.ts';
import { Failure } from './exit-codes.ts';
import { plain } from './outbox/plain.ts';
import { start } from './start.ts';

/** Asks the operator; null without a terminal. */
export type Prompt = (question: string, signal: AbortSignal) => Promise<string | null>;

interface ApproveOptions {
  readonly config?: string;
  readonly yes?: true;
}

/** `approve`: lets Azure start an event now. */
export const addApprove: Verb = (program, commandContext) => addApproveWith(promptOnTerminal)(program, commandContext);

export const addApproveWith =
  (ask: Prompt): Verb =>
  (program, commandContext) => {
    const command = program
      .command(approveRequest)
      .description('let Azure start an event now, for every VM that it names, whatever its type')
      .argument('<event-id>', 'EventId, as shown in records, status and the log')
      .option(...configFileOption)
      .option('-y, --yes', 'skip the confirmation');
    describeVerb(command, 'imdsFailed', 'noOutbox', 'notDone', 'alreadyRunning', 'newerOutbox', 'configuration').action(
      (eventId: string, options: ApproveOptions) => approve(eventId, options, commandContext, ask),
    );
  };

/** The service has 10 s for Azure's answer, and checks for requests once a second. */
const answerMs = 20_000;

async function approve(eventId: string, options: ApproveOptions, commandContext: CommandContext, ask: Prompt) {
  const { env, print, stop } = commandContext;
  if (isInCluster(env)) throw new Failure('notDone', `Nothing was sent: ${notInCluster}`);
  const { config, log } = await start(options, commandContext);
  const { event, terms, vmName } = await readEvent(eventId, config, stop);
  if (event.eventStatus !== 'Scheduled') {
    const status = plain(event.eventStatus ?? 'not known');
    throw new Failure(
      'notDone',
      `The status of event ${plain(event.eventId)} is ${status}: only a Scheduled event can be approved.`,
    );
  }
  print(pageOf(event, vmName, systemClock.now()));
  if (terms.listedTwice) print(`${listedTwice}\n`);
  if (!options.yes) await confirm(ask, stop);
  const { ok, message, outcome } = await submit(config, log, { eventId: event.eventId, terms }, stop);
  if (ok) return print(`${message}\n`);
  const what = { refused: 'It was not approved', 'outcome-unknown': 'Perhaps it was approved' };
  const verdict = outcome === null || outcome === 'accepted' ? 'Nothing was sent' : what[outcome];
  throw new Failure('notDone', `${verdict}: ${message}`);
}

const listedTwice =
  'Azure lists this EventId more than once, and the entries may differ: the VMs below are those of all entries, the other fields those of one. Approving approves all of them.';

interface ListedEvent {
  readonly event: ScheduledEvent;
  /** The service approves on these terms only. */
  readonly terms: ApprovalTerms;
  /** The name of this VM; null if the instance metadata cannot be read. */
  readonly vmName: string | null;
}

/** Reads the event as Azure lists it now, without the service. */
async function readEvent(eventId: string, config: Config, signal: AbortSignal): Promise<ListedEvent> {
  const { openImds } = await import('../imds/open-imds.ts');
  const { observerFrom, parseInstance } = await import('../imds/instance.ts');
  const { silentLog } = await import('../log.ts');
  const imds = openImds(config, { warm: () => true, clock: systemClock, log: silentLog });
  try {
    const instance = await imds.instance(signal);
    const seen = await pollWithRetries(imds, signal);
    if (seen.kind !== 'document') {
      const reason = seen.kind === 'unavailable' ? seen.reason : 'It answered that nothing changed.';
      throw new Failure('imdsFailed', `The scheduled events cannot be read: ${reason}`);
    }
    const { events } = seen.document;
    const event = events.find((one) => one.eventId.toLowerCase() === eventId.trim().toLowerCase());
    if (!event) throw new Failure('notDone', notListed(eventId, events));
    const { tags: _, ...overrides } = config.observer;
    const identity = instance.kind === 'metadata' ? parseInstance(instance.metadata) : {};
    return {
      event,
      terms: termsOf(event, seen.document),
      vmName: observerFrom(identity, overrides, {})?.vmName ?? null,
    };
  } finally {
    await imds.close();
  }
}

/** The service and this command share five requests a second: throttling is temporary, and so are server errors. */
async function pollWithRetries(imds: Pick<Imds, 'observe'>, signal: AbortSignal): Promise<PollResult> {
  for (let triesLeft = 2; ; triesLeft -= 1) {
    const seen = await imds.observe(signal);
    const isPassing = seen.kind === 'unavailable' && /^http-(429|5\d\d)$/.test(seen.code);
    if (!isPassing || triesLeft === 0) return seen;
    await systemClock.sleep(Math.min(Math.max(seen.retryAfterMs ?? 0, 1000), 5000), signal);
  }
}

function notListed(eventId: string, events: readonly ScheduledEvent[]): string {
  const lines = events.map((event) => {
    const { eventType, eventStatus, resources } = event;
    return `  ${event.eventId}  ${eventType ?? 'unknown type'}  ${eventStatus ?? ''}  ${resources?.join(', ') ?? ''}`;
  });
  const listed = lines.length === 0 ? 'No events are listed.' : `Listed:\n${lines.map(plainLine).join('\n')}`;
  return `Azure lists no event ${plain(eventId)}. ${listed}`;
}

const plainLine = (line: string): string => `  ${plain(line)}`;

const effects: Readonly<Record<string, string>> = {
  Freeze: 'the VM is paused for some seconds; memory and open files are kept',
  Reboot: 'the VM is restarted; anything held only in memory is lost',
  Redeploy: 'the VM moves to another host; what is on temporary disks is lost',
  Preempt: 'the Spot VM is deleted; what is on temporary disks is lost',
  Terminate: 'the VM is deleted',
};

/** The event, and what approving it means. */
function pageOf(event: ScheduledEvent, vmName: string | null, now: Date): string {
  const { eventType, eventStatus, eventSource, notBefore, durationSeconds, description } = event;
  const names = event.resources ?? [];
  const isUs = (name: string): boolean => name.toLowerCase() === vmName?.toLowerCase();
  const seconds = durationSeconds !== null && durationSeconds >= 0 ? `${durationSeconds} s` : 'not known';
  const rows: readonly (readonly [string, string])[] = [
    ['event', event.eventId],
    ['type', `${eventType ?? 'not known'}${eventType && effects[eventType] ? `: ${effects[eventType]}` : ''}`],
    ['source', eventSource === 'User' ? 'User: requested by a user of the subscription' : (eventSource ?? 'not known')],
    ['status', eventStatus ?? 'not known'],
    ['not before', notBefore === null ? 'not known' : `${notBefore} (${distanceOf(notBefore, now)})`],
    ['duration', seconds],
    ['description', description ?? 'none'],
    [
      'VMs',
      names.length === 0 ? 'none named' : names.map((name) => (isUs(name) ? `${name} (this VM)` : name)).join(', '),
    ],
  ];
  const whom = names.length === 1 ? `for ${names[0]}` : `for all ${names.length} VMs`;
  const others = vmName === null || names.some(isUs) ? '' : ' This VM is not among them.';
  const table = rows.map(([title, text]) => `  ${title.padEnd(12)} ${plain(text)}\n`).join('');
  return `${table}Approving lets Azure start it at once, ${plain(whom)}, and cannot be undone.${others}\n`;
}

function distanceOf(notBefore: string, now: Date): string {
  const minutes = Math.round((Date.parse(notBefore) - now.getTime()) / 60_000);
  return minutes < 0 ? `${-minutes} min ago` : `in ${minutes} min`;
}

async function confirm(ask: Prompt, signal: AbortSignal): Promise<void> {
  const answer = await ask('Approve it? [y/N] ', signal);
  if (answer === null)
    throw new Failure('usage', 'No terminal to confirm on; pass --yes to approve without confirmation.');
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('notDone', 'Nothing was approved.');
}

const promptOnTerminal: Prompt = async (question, signal) => {
  if (!process.stdin.isTTY) return null;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question, { signal });
  } catch {
    return ''; // Ctrl-C or the end of the input: no.
  } finally {
    terminal.close();
  }
};

/** Through the service that runs, else by this process. Only while the event is what was shown. */
async function submit(config: Config, log: Log, request: ApproveRequest, signal: AbortSignal): Promise<ApproveAnswer> {
  const { stateDirectory: directory } = config;
  const { askService } = await import('../outbox/control/client.ts');
  const { explainUnread, noOutboxIn } = await import('./outbox/read.ts');
  try {
    const how = { timeoutMs: answerMs, signal, clock: systemClock };
    const asked = await askService(directory, approveRequest, request, how);
    if (asked.answered) return asked.answer as ApproveAnswer;
    if (asked.why === 'no-outbox') throw new Failure('noOutbox', noOutboxIn(directory));
    if (asked.why === 'no-answer') throw new Failure('notDone', noAnswer(directory));
    const [{ approveAlone }, { asOwner }] = await Promise.all([import('./approve-alone.ts'), import('./as-owner.ts')]);
    const alone = () => approveAlone(request, { config, clock: systemClock, log, stop: signal });
    // Any other user tries: a group may be allowed to write there, and an event does not wait.
    return await (process.geteuid?.() === 0 ? asOwner(directory, alone) : alone());
  } catch (error) {
    const { OutboxInUse } = await import('../outbox/store/errors.ts');
    if (error instanceof OutboxInUse)
      throw new Failure('alreadyRunning', `${error.message} Nothing was sent: try again.`);
    throw explainUnread(error, directory);
  }
}

const noAnswer = (directory: string): string =>
  `The service with the state directory ${directory} did not answer within ${answerMs / 1000} s. The approval may be in progress: see its log and status.`;
