import { clockTime } from '../health/moment.ts';
import type { Done } from './install.ts';
import { serviceName } from './names.ts';
import type { CommandState } from './plan.ts';
import type { System } from './system.ts';
import type { Uninstalled } from './uninstall.ts';

/** What the sentences name. */
type Named = Pick<System, 'places' | 'words'>;

/** The message of `install`, `update`, `configure` and `enable` when they are done. */
export function doneSentences(done: Done, { places, words }: Named): string[] {
  const { outcome, folder, from, changed, message, command, editedUnit } = done;
  const came = from === null ? '' : `, after ${from}`;
  const sentence = {
    'ready-already': `Version ${folder} is installed and runs as configured; ${changed ? 'it was not restarted' : 'nothing was changed'}.`,
    'becomes-ready': `Version ${folder} runs and is ready${came}. Status: ${message || 'nothing yet'}`,
    waits: `Version ${folder} is installed${came}, and waits for its configuration: write it to a file, then run "${words.command} service configure --config FILE", which copies it to ${places.configuration}.`,
    masked: `Version ${folder} is installed${came}. ${words.masked}, so it does not start: ${words.unmask}, then "${words.command} service enable".`,
    rests: `Version ${folder} is installed${came}. The service was disabled and stays so: "${words.command} service enable" starts it.`,
    later: `Version ${folder} is installed${came}, and starts at the next boot.`,
  }[outcome];
  const why = noCommand[command];
  return [
    sentence,
    ...(why ? [`${places.command} ${why}: the command is ${words.program}.`] : []),
    ...(editedUnit === null ? [] : [words.editedUnit(editedUnit)]),
  ];
}

/** Why there is no command in the path. */
const noCommand: Readonly<Partial<Record<CommandState, string>>> = {
  foreign: 'belongs to another product and was left alone',
  'no-place': 'cannot be created on a read-only file system',
};

/**
 * What is to be known of a machine that is watched.
 * https://learn.microsoft.com/azure/virtual-machines/linux/scheduled-events#user-initiated-maintenance
 */
export function beginningSentences({ outcome }: Pick<Done, 'outcome'>, { words }: Pick<Named, 'words'>): string[] {
  if (outcome === 'waits' || outcome === 'rests' || outcome === 'masked') return [];
  const since = outcome === 'later' ? 'From its first start on' : 'From now on';
  return [
    `The first response of the metadata service may take two minutes. "${words.command} check" verifies that it and every destination can be reached.`,
    `${since} restarts and redeployments of this VM that users request may wait up to 15 minutes for an approval; with approve.userInitiated the bridge approves them at once.`,
  ];
}

/** `reason`: one sentence that names the address. It is the first line of what goes wrong, which some portals show alone. */
export const unreachedSentence = (reason: string, { words }: Pick<Named, 'words'>): string =>
  `The service is installed and runs, but it gets no connection to the metadata service, and observes no events until it does: ${reason} ${words.firewall}`;

const offAfterMs = 24 * 3_600_000;

/** The message of `uninstall`. `now`: when the service last polled Azure. */
export function uninstalledSentences(
  { wasThere, state, hasAccount, configuration, left, problems }: Uninstalled,
  { places }: Pick<Named, 'places'>,
  now: Date,
): string[] {
  const off = clockTime(new Date(now.getTime() + offAfterMs).toISOString(), now);
  const ended = [
    'The service is stopped and removed.',
    `Azure disables Scheduled Events for this VM after 24 h without a request, at about ${off}: until then restarts that users request may still wait up to 15 minutes, since no approval is sent.`,
  ];
  const ofState = {
    kept: `The state is kept in ${places.state}, with the undelivered records${hasAccount ? `, and the account ${serviceName} that owns it` : ''}: the next installation continues with it.`,
    removed: `The state in ${places.state} is removed, with what was not delivered${hasAccount ? '' : `, and the account ${serviceName}`}.`,
    absent: null,
  }[state];
  return [
    ...(wasThere ? ended : ['The service is not installed.']),
    ...(ofState === null ? [] : [ofState]),
    ...(configuration === 'kept'
      ? [`The configuration is kept in ${places.configuration}: the next installation runs with it.`]
      : []),
    ...left.map((folder) => `${folder} stays, because it contains files that were not installed.`),
    ...problems,
  ];
}
