import type { AzureSimulator } from '../../azure-simulator/index.ts';

/** What one key does. */
export interface Key {
  readonly key: string;
  /** Completes "this key …", for the list of keys. */
  readonly does: string;
  /** Does it; answers with what to tell, if anything. */
  readonly press: () => string | undefined | Promise<string>;
}

/** @param play plays a scenario by its name; `quit` ends the command. */
export function keysFor(
  { imds, eventHubs, logAnalytics }: AzureSimulator,
  { play, quit }: { readonly play: (scenario: string) => void; readonly quit: () => void },
): readonly Key[] {
  const plays = (key: string, scenario: string, what: string): Key => ({
    key,
    does: `plays ${what}`,
    press: () => void play(scenario),
  });
  const oldest = (act: (eventId: string) => void) => (): string | undefined => {
    const [event] = imds.document.Events;
    if (event === undefined) return 'There is no event.';
    act(event.EventId);
    return undefined;
  };
  const keys: readonly Key[] = [
    plays('f', 'freeze', 'a freeze'),
    plays('r', 'reboot', 'a reboot'),
    plays('p', 'preempt', 'an eviction of a Spot VM'),
    plays('h', 'hardware-failure', 'a hardware failure'),
    { key: 's', does: 'starts the oldest event now', press: oldest(imds.start) },
    { key: 'w', does: 'removes the oldest event now', press: oldest(imds.remove) },
    {
      key: 'i',
      does: 'takes the metadata service down or up',
      press: inTurn(
        () => imds.fault('scheduledevents', { status: 503 }),
        'The metadata service answers 503 for scheduled events.',
        () => imds.fault('scheduledevents', null),
        'The metadata service answers again.',
      ),
    },
    {
      key: 'e',
      does: 'takes the event hub down or up',
      press: inTurn(
        () => eventHubs.pause({ drop: true }),
        'The event hub has broken its connections and takes no new one.',
        () => eventHubs.resume(),
        'The event hub takes connections again.',
      ),
    },
    {
      key: 't',
      does: 'takes the table down or up',
      press: inTurn(
        () => logAnalytics.fault({ status: 503 }),
        'Logs Ingestion answers 503.',
        () => logAnalytics.fault(null),
        'Logs Ingestion answers again.',
      ),
    },
    { key: '?', does: 'shows the keys', press: () => describeKeys(keys) },
    { key: 'q', does: 'ends it, as Ctrl+C does', press: () => void quit() },
  ];
  return keys;
}

/** One and the other in turn, each with its sentence. */
function inTurn(down: () => unknown, isDown: string, up: () => unknown, isUp: string): () => Promise<string> {
  let next = true;
  return async () => {
    const goesDown = next;
    next = !next;
    await (goesDown ? down() : up());
    return goesDown ? isDown : isUp;
  };
}

export function describeKeys(keys: readonly Key[]): string {
  return `Keys\n${keys.map(({ key, does }) => `  ${key}  ${does}`).join('\n')}`;
}
