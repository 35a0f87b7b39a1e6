import { install } from '../service/install.ts';
import { readInstallationRecord } from '../service/installation-record.ts';
import { Refusal, refusals } from '../service/refusals.ts';
import { beginningSentences, doneSentences, unreachedSentence } from '../service/sentences.ts';
import { serviceStatus } from '../service/status.ts';
import {
  appliedSequence,
  type Given,
  givenIn,
  type Handler,
  handlerVersion,
  orderOf,
  readConfiguration,
} from './handler.ts';
import { forgetRemoval } from './removal-marker.ts';
import type { AppliedSettings } from './sequence-number.ts';
import { hashOf, readSettings } from './settings.ts';
import { type ExtensionStatus, hasSucceeded, unlessImpossible, writeStatus } from './status-file.ts';
import { substatusesOf } from './substatus.ts';
import { belongsTo, forgetUpdate } from './update-marker.ts';

/** The guest agent kills `enable` after 300 s, and then nothing would have reported why. */
export const limitMs = 285_000;
/** A status that is not final has to be renewed every two minutes. */
const renewEveryMs = 60_000;
/** After a boot the guest agent may be faster than the service. */
const serviceStartMs = 60_000;
const pollEveryMs = 1_000;

/** How an attempt ended: for the status file, the output and the exit code. */
export interface Enabled {
  readonly sentence: string;
  /** Everything is installed, but the service gets no connection to the metadata service. */
  readonly unreached: boolean;
}

/** What a failure ends the command with. */
export type FailureOf = (error: unknown) => { readonly code: number; readonly message: string };

/**
 * Installs the package with the settings of this sequence number, and reports it in the status file. The guest agent repeats this
 * at each of its own starts: then nothing is changed while the service runs, the status file included.
 * @throws Refusal, or any error, after it was written to the status file.
 */
export async function enableHandler(handler: Handler, failureOf: FailureOf): Promise<Enabled> {
  const { folder, machine, log } = handler;
  const startMs = handler.clock.monotonicMs();
  forgetRemoval(folder);
  const given = await givenIn(folder, handler);
  const { statusFolder } = given.environment;
  const applied = appliedSequence(handler);
  const last = await applied.read();
  const hash = await hashOfGiven(given, handler);
  if (wereApplied(given, hash, last) && isOwnAndSettled(handler) && (await isRunning(handler))) {
    forgetUpdate(machine.system.places);
    return { sentence: `The settings ${given.number} were applied before, and the service runs.`, unreached: false };
  }
  const began = handler.clock.now();
  const write = (status: ExtensionStatus): void =>
    writeStatus(statusFolder, given.number, status, { now: handler.clock.now(), began });
  const isFirst = last === null;
  const over = new AbortController();
  const renewed = keepTransitioning(handler, write, over.signal);
  try {
    const { sentence, unreached } = await withinLimit(apply(handler, given, isFirst), handler, startMs, over.signal);
    over.abort();
    await renewed;
    const substatuses = substatusesOf(await handler.askService(), handler.clock.now());
    if (unreached === null) {
      write({ status: 'success', code: 0, message: sentence, substatuses });
      await applied.write({ number: given.number, hash });
      forgetUpdate(machine.system.places);
      return { sentence, unreached: false };
    }
    write({ status: 'error', code: refusals.unreachable.code, message: unreached, substatuses });
    return { sentence: unreached, unreached: true };
  } catch (error) {
    over.abort();
    await renewed;
    unlessImpossible(log, () => write({ status: 'error', ...failureOf(error), substatuses: [] }));
    throw error;
  }
}

/** Null where there is no such file, or none that can be read: the latter is reported when it is applied. */
async function hashOfGiven({ environment, number }: Given, { machine }: Handler): Promise<string | null> {
  const settings = await readSettings(environment.configFolder, number, machine.clock).catch(() => null);
  return settings && hashOf(settings);
}

/** A machine that was created from an image of another one has the number and the status of that one's settings, which may be others. */
const wereApplied = ({ environment, number }: Given, hash: string | null, last: AppliedSettings | null): boolean =>
  last?.number === number &&
  (last.hash === null || last.hash === hash) &&
  hasSucceeded(environment.statusFolder, number);

interface Applied {
  readonly sentence: string;
  readonly unreached: string | null;
}

async function apply(handler: Handler, given: Given, isFirst: boolean): Promise<Applied> {
  const { machine, folder, log } = handler;
  const configuration = await readConfiguration(given, handler);
  if (configuration.kind === 'absent') {
    throw new Refusal(
      'badConfiguration',
      `The guest agent has not written the settings ${given.number}.settings to ${given.environment.configFolder}. Deploy the extension again.`,
    );
  }
  const done = await install(machine, orderOf(folder, configuration));
  if (done.outcome === 'waits') {
    throw new Refusal(
      'badConfiguration',
      'The extension has no settings, and this machine has no configuration of the bridge: deploy the extension with the configuration as its public settings, and with secrets in its protected settings.',
    );
  }
  const [sentence = ''] = doneSentences(done, machine.system);
  if (done.outcome === 'masked') throw new Refusal('notDone', sentence);
  if (isFirst) for (const one of beginningSentences(done, machine.system)) log.write(one);
  const taken =
    isFirst && done.wasThere && done.changed
      ? ' The bridge was on this machine before: the extension has taken it over with its state, and removing the extension removes it.'
      : '';
  const { unreached } = done;
  return {
    sentence: `${sentence}${taken}`,
    unreached: unreached && unreachedSentence(unreached, machine.system),
  };
}

/**
 * False after an update that was cut off: the service may run a version that has not become ready, or the version and the settings of
 * another handler.
 */
function isOwnAndSettled(handler: Handler): boolean {
  const { places } = handler.machine.system;
  const owner = belongsTo(places) ?? handlerVersion(handler);
  return owner === handlerVersion(handler) && readInstallationRecord(places)?.isSettled === true;
}

/** Also where it was just started with the machine. */
async function isRunning({ machine }: Handler): Promise<boolean> {
  const { clock } = machine;
  const began = clock.monotonicMs();
  for (;;) {
    const { service } = await serviceStatus(machine);
    if (service?.active === 'active') return true;
    if (service?.active !== 'activating' || clock.monotonicMs() - began >= serviceStartMs) return false;
    await clock.sleep(pollEveryMs);
  }
}

async function keepTransitioning({ clock, log }: Handler, write: (status: ExtensionStatus) => void, over: AbortSignal) {
  const message = 'The service is being installed or configured.';
  while (!over.aborted) {
    unlessImpossible(log, () => write({ status: 'transitioning', code: 0, message, substatuses: [] }));
    await clock.sleep(renewEveryMs, over);
  }
}

/** The installation cannot be ended half-way, but the process can: the next attempt continues from there. */
function withinLimit<T>(work: Promise<T>, { clock }: Handler, startMs: number, over: AbortSignal): Promise<T> {
  const limit = clock.sleep(startMs + limitMs - clock.monotonicMs(), over).then((): never => {
    throw new Refusal(
      'notDone',
      `The installation has not ended within ${limitMs / 1000} s, and the guest agent waits no longer. The next attempt, at the latest when the guest agent starts again, continues it.`,
    );
  });
  // The race ignores the one that comes second, and Node must too.
  limit.catch(() => {});
  return Promise.race([work, limit]);
}
