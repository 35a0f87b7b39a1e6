import { wrap } from '../../cli/wrap.ts';
import type { AzureSimulator } from '../index.ts';

/** What one key does. */
export interface Key {
  readonly key: string;
  /** In one to three words. */
  readonly does: string;
  /** Does it. @returns what to print, if anything. */
  readonly press: () => string | undefined | Promise<string>;
}

/** @param play plays a scenario by its name; `quit` ends the command; `about` is printed by `?`. */
export function keysFor(
  { imds, eventHubs, logAnalytics }: AzureSimulator,
  {
    play,
    quit,
    about = '',
  }: { readonly play: (scenario: string) => void; readonly quit: () => void; readonly about?: string },
): readonly Key[] {
  const plays = (key: string, scenario: string, does: string): Key => ({
    key,
    does,
    press: () => void play(scenario),
  });
  const oldest = (act: (eventId: string) => void) => (): string | undefined => {
    const [event] = imds.document.Events;
    if (event === undefined) return 'No event is listed.';
    act(event.EventId);
    return undefined;
  };
  const keys: readonly Key[] = [
    plays('f', 'freeze', 'freeze'),
    plays('r', 'reboot', 'reboot'),
    plays('p', 'preempt', 'Spot eviction'),
    plays('h', 'hardware-failure', 'hardware failure'),
    { key: 's', does: 'start oldest event', press: oldest(imds.start) },
    { key: 'w', does: 'remove oldest event', press: oldest(imds.remove) },
    {
      key: 'i',
      does: 'metadata service down/up',
      press: inTurn(
        () => imds.fault('scheduledevents', { status: 503 }),
        'The metadata service answers 503 for scheduled events.',
        () => imds.fault('scheduledevents', null),
        'The metadata service answers again.',
      ),
    },
    {
      key: 'e',
      does: 'event hub down/up',
      press: inTurn(
        () => eventHubs.pause({ drop: true }),
        'The event hub has closed its connections and refuses new ones.',
        () => eventHubs.resume(),
        'The event hub accepts connections again.',
      ),
    },
    {
      key: 't',
      does: 'table down/up',
      press: inTurn(
        () => logAnalytics.fault({ status: 503 }),
        'Logs Ingestion answers 503.',
        () => logAnalytics.fault(null),
        'Logs Ingestion answers again.',
      ),
    },
    { key: '?', does: 'help', press: () => `Help\n\n${about}\n${describeKeys(keys)}\n` },
    { key: 'q', does: 'quit', press: () => void quit() },
  ];
  return keys;
}

/** Alternates between the two, each with its sentence. */
function inTurn(down: () => unknown, isDown: string, up: () => unknown, isUp: string): () => Promise<string> {
  let next = true;
  return async () => {
    const goesDown = next;
    next = !next;
    await (goesDown ? down() : up());
    return goesDown ? isDown : isUp;
  };
}

/** In lines of 80 columns. */
export function describeKeys(keys: readonly Key[]): string {
  const items = keys.map(({ key, does }) => `${key} ${does}`);
  return `Keys  ${wrap(items, 74, '  ').join(`\n${' '.repeat(6)}`)}`;
}
