/** Histories that try the subscriber: when it starts, how often it reads a record, and in which order. */
import { Bridge, event, type ListedEvent } from './bridge.ts';
import { afterStart, type History, lostSight, nothingNew, run, start, step } from './history.ts';

export const historiesOfSubscribers: Readonly<Record<string, () => History>> = {
  freeze() {
    const vm = new Bridge('freeze_0');
    const freeze = event('freeze', 'Freeze', '09:20', ['freeze_0']);
    return {
      title: 'A freeze is announced, starts and is over',
      rule: 'Phases: Completed means that you can recover',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', freeze)], ['drain freeze_0']),
          step([vm.reports('Started', '09:20', freeze)]),
          step([vm.reports('Completed', '09:21', freeze, afterStart)], ['restore freeze_0']),
        ),
        nothingNew,
      ],
    };
  },

  copies() {
    const vm = new Bridge('copies_0');
    const freeze = event('copies', 'Freeze', '09:20', ['copies_0']);
    const scheduled = vm.reports('Scheduled', '09:05', freeze);
    const started = vm.reports('Started', '09:20', freeze);
    const completed = vm.reports('Completed', '09:21', freeze, afterStart);
    return {
      title: 'Every record is sent again, also long after the event is over and after a restart of the subscriber',
      rule: 'Identifiers: recordId is the same for all copies of a record, however often it is sent',
      runs: [
        run(
          step([scheduled, scheduled], ['drain copies_0']),
          step([started, scheduled, started]),
          step([completed, completed], ['restore copies_0']),
          step([scheduled, started]),
        ),
        start([scheduled, started, completed], [], step([scheduled])),
      ],
    };
  },

  witnesses() {
    const [down, first, second] = ['witnesses_0', 'witnesses_1', 'witnesses_2'].map((name) => new Bridge(name)) as [
      Bridge,
      Bridge,
      Bridge,
    ];
    const redeploy = event('witnesses', 'Redeploy', '09:20', ['witnesses_0']);
    return {
      title: 'A VM is down during the event; two other VMs of its scale set report it, and the VM itself last',
      rule: 'Rules 3: all VMs that report a step report one event; a VM that is down cannot report its own failure',
      runs: [
        run(
          step(
            [down, first, second].map((vm) => vm.reports('Scheduled', '09:05', redeploy)),
            ['drain witnesses_0'],
          ),
          step([first, second].map((vm) => vm.reports('Started', '09:20', redeploy))),
          step([first.reports('Completed', '09:28', redeploy, afterStart)], ['restore witnesses_0']),
          step([
            second.reports('Completed', '09:28', redeploy, afterStart),
            down.reports('Ended', '09:35', redeploy, lostSight),
          ]),
        ),
        nothingNew,
      ],
    };
  },

  canceled() {
    const vm = new Bridge('canceled_0');
    const reboot = event('canceled', 'Reboot', '09:40', ['canceled_0']);
    return {
      title: 'A reboot is announced, approved and canceled',
      rule: 'Phases: Canceled means that you can recover; Approved changes nothing about who is affected',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', reboot)], ['drain canceled_0']),
          step([vm.reports('Approved', '09:06', reboot, { evidence: ['accepted'] })]),
          step([vm.reports('Canceled', '09:15', reboot)], ['restore canceled_0']),
        ),
        nothingNew,
      ],
    };
  },

  'no-notice'() {
    const vm = new Bridge('notice_0');
    const freeze = event('no notice', 'Freeze', '09:05', ['notice_0']);
    const unseen = event('an end alone', 'Freeze', '09:05', ['notice_0']);
    return {
      title: 'An event starts without notice; of another one only the end is in the hub',
      rule: 'Phases: Started is reported by Azure, and Completed, Canceled and Ended mean that there is no further impact',
      runs: [
        run(
          step([vm.reports('Ended', '09:02', unseen, lostSight)]),
          step([vm.reports('Started', '09:05', freeze, { evidence: ['started-without-notice'] })], ['drain notice_0']),
          step([vm.reports('Completed', '09:06', freeze, afterStart)], ['restore notice_0']),
        ),
      ],
    };
  },

  'two-events'() {
    const vm = new Bridge('two_0');
    const freeze = event('two, a freeze', 'Freeze', '09:20', ['two_0']);
    const reboot = event('two, a reboot', 'Reboot', '09:50', ['two_0']);
    return {
      title: 'Two events affect one VM at once: it is drained for each, and restored once, after the last',
      rule: 'Phases: the end of an event says nothing about another one',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', freeze)], ['drain two_0']),
          step([vm.reports('Scheduled', '09:10', reboot)], ['drain two_0']),
        ),
        start(
          [vm.reports('Completed', '09:21', freeze, afterStart)],
          [],
          step([vm.reports('Completed', '09:55', reboot, { evidence: ['boot-id-changed'] })], ['restore two_0']),
        ),
        nothingNew,
      ],
    };
  },

  partitions() {
    const vm = new Bridge('partitions_0');
    // Three events in three partitions.
    const [first, second, third] = ['partition 1', 'partition 2', 'partition 4'].map((name) =>
      event(name, 'Freeze', '10:30', ['partitions_0']),
    ) as [ListedEvent, ListedEvent, ListedEvent];
    return {
      title: 'The events of one VM are in several partitions, which a subscriber reads at its own pace',
      rule: 'The record: the partition key is the event id, so there is no order between the records of two events',
      runs: [
        start(
          [
            vm.reports('Scheduled', '09:05', first),
            vm.reports('Scheduled', '09:06', second),
            vm.reports('Canceled', '09:15', first),
          ],
          ['drain partitions_0'],
        ),
        start(
          [vm.reports('Canceled', '09:25', second), vm.reports('Scheduled', '09:24', third)],
          ['drain partitions_0'],
          step([vm.reports('Canceled', '09:40', third)], ['restore partitions_0']),
        ),
        nothingNew,
      ],
    };
  },

  'late-reports'() {
    const [prompt, late] = [new Bridge('late_0'), new Bridge('late_1')];
    const freeze = event('late', 'Freeze', '09:20', ['late_0', 'late_1']);
    return {
      title: 'The connection of a VM fails: what it saw of the event arrives after the end that another VM reported',
      rule: 'Rules 3: the records of several VMs are about one event; the time of observation counts, not that of arrival',
      runs: [
        run(
          step([prompt.reports('Scheduled', '09:05', freeze)], ['drain late_0', 'drain late_1']),
          step([prompt.reports('Started', '09:20', freeze)]),
          step([prompt.reports('Completed', '09:21', freeze, afterStart)], ['restore late_0', 'restore late_1']),
          step([late.reports('Scheduled', '09:05', freeze), late.reports('Started', '09:22', freeze)]),
          step([late.reports('Completed', '09:23', freeze, afterStart)]),
        ),
        nothingNew,
      ],
    };
  },

  'history-first'() {
    const vms = ['history_0', 'history_1', 'history_2'].map((name) => new Bridge(name)) as [Bridge, Bridge, Bridge];
    const [over, open, fresh] = vms.map(({ vmName }) => event(vmName, 'Reboot', '09:50', [vmName])) as [
      ListedEvent,
      ListedEvent,
      ListedEvent,
    ];
    return {
      title: 'The subscriber starts late and is killed twice: it acts on the latest state, and repeats nothing',
      rule: 'Rules 8: read everything that was sent in the meantime, then act on the latest state of each event',
      runs: [
        start(
          [
            vms[0].reports('Scheduled', '09:00', over),
            vms[1].reports('Scheduled', '09:01', open),
            vms[0].reports('Canceled', '09:10', over),
          ],
          ['drain history_1'],
        ),
        start(
          [
            vms[1].reports('Started', '09:50', open),
            vms[2].reports('Scheduled', '09:51', fresh),
            vms[2].reports('Ended', '09:55', fresh, lostSight),
          ],
          [],
        ),
        start([vms[1].reports('Completed', '09:58', open, { evidence: ['boot-id-changed'] })], ['restore history_1']),
      ],
    };
  },

  'killed-during-a-drain'() {
    const [over, open] = [new Bridge('killed_0'), new Bridge('killed_1')];
    const [ended, stays] = [over, open].map(({ vmName }) => event(vmName, 'Reboot', '09:50', [vmName])) as [
      ListedEvent,
      ListedEvent,
    ];
    return {
      title: 'The subscriber is killed during two drains: one event is over when it returns, the other is not',
      rule: 'consume.md: a crash between an action and saving its outcome repeats the action; a VM whose drain a crash interrupted is restored',
      runs: [
        {
          ...run(
            step(
              [over.reports('Scheduled', '09:05', ended), open.reports('Scheduled', '09:05', stays)],
              ['drain killed_0', 'drain killed_1'],
            ),
          ),
          killedDuring: ['killed_0', 'killed_1'],
        },
        start(
          [over.reports('Canceled', '09:15', ended)],
          ['restore killed_0', 'drain killed_1'],
          step([open.reports('Canceled', '09:16', stays)], ['restore killed_1']),
        ),
        nothingNew,
      ],
    };
  },
};
