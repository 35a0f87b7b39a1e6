import { minute, type Scenario } from './scenario.ts';

/** What goes wrong around events. */
export const faultScenarios: readonly Scenario[] = [
  {
    name: 'warm-up',
    description: 'No poll for a day: the first answer takes two minutes and already lists a freeze.',
    demoSpeed: 60,
    steps: [
      { afterSeconds: 0, do: 'switch-off', firstCallSeconds: 2 * minute },
      { afterSeconds: 60, do: 'schedule', event: 'migration', eventType: 'Freeze', noticeSeconds: 15 * minute },
      { afterSeconds: 15 * minute, do: 'start', event: 'migration' },
      { afterSeconds: 5, do: 'impact', event: 'migration', kind: 'freeze', seconds: 7 },
      { afterSeconds: 10 * minute, do: 'remove', event: 'migration' },
    ],
  },
  {
    name: 'chaos',
    description: 'Three events while the endpoint, the event hub, the table and the tokens fail in turn.',
    demoSpeed: 30,
    steps: [
      { afterSeconds: 0, do: 'fault', at: 'scheduledevents', fault: { status: 503 } },
      { afterSeconds: 30, do: 'fault', at: 'scheduledevents', fault: null },
      { afterSeconds: 10, do: 'schedule', event: 'migration', eventType: 'Freeze', noticeSeconds: 5 * minute },
      { afterSeconds: 60, do: 'fault', at: 'eventHubs', fault: 'server-busy' },
      { afterSeconds: 0, do: 'fault', at: 'logAnalytics', fault: { status: 503 } },
      { afterSeconds: 30, do: 'schedule', event: 'eviction', eventType: 'Preempt', noticeSeconds: 30 },
      { afterSeconds: 20, do: 'fault', at: 'eventHubs', fault: 'accept-then-drop' },
      { afterSeconds: 0, do: 'fault', at: 'scheduledevents', fault: 'truncated' },
      { afterSeconds: 30, do: 'fault', at: 'scheduledevents', fault: null },
      { afterSeconds: 10, do: 'start', event: 'eviction' },
      { afterSeconds: 30, do: 'fault', at: 'token', fault: { status: 500 } },
      { afterSeconds: 0, do: 'fault', at: 'logAnalytics', fault: { status: 429, headers: { 'retry-after': '10' } } },
      { afterSeconds: 30, do: 'remove', event: 'eviction' },
      { afterSeconds: 30, do: 'fault', at: 'scheduledevents', fault: 'empty' },
      { afterSeconds: 30, do: 'fault', at: 'scheduledevents', fault: null },
      { afterSeconds: 10, do: 'start', event: 'migration' },
      { afterSeconds: 5, do: 'impact', event: 'migration', kind: 'freeze', seconds: 7 },
      { afterSeconds: 60, do: 'schedule', event: 'failure', eventType: 'Reboot', noticeSeconds: null },
      { afterSeconds: 0, do: 'impact', event: 'failure', kind: 'restart', seconds: 2 * minute },
      { afterSeconds: 60, do: 'remove', event: 'migration' },
      { afterSeconds: 0, do: 'fault', at: 'eventHubs', fault: null },
      { afterSeconds: 0, do: 'fault', at: 'logAnalytics', fault: null },
      { afterSeconds: 0, do: 'fault', at: 'token', fault: null },
      { afterSeconds: 60, do: 'remove', event: 'failure' },
    ],
  },
];
