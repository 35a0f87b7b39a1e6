/** Histories that try the rules for consumers: lost state, clocks, names, and messages that are no records. */
import type { Phase } from '../../../../src/lifecycle/record.ts';
import { Bridge, event, type ListedEvent, type Message, partitionOf } from './bridge.ts';
import { afterStart, type History, lostSight, nothingNew, reappeared, run, start, step } from './history.ts';

const withoutAttributes = (partition: string, body: string | Uint8Array): Message => ({
  partition,
  bodyBase64: Buffer.from(body as string).toString('base64'),
});

export const historiesOfFleets: Readonly<Record<string, () => History>> = {
  'lost-state-still-listed'() {
    const vm = new Bridge('kept_0');
    const reboot = event('kept', 'Reboot', '09:50', ['kept_0']);
    const before = [
      vm.reports('Scheduled', '09:05', reboot),
      vm.reports('Ended', '09:10', reboot, lostSight),
      vm.reports('Scheduled', '09:12', reboot, reappeared),
    ] as const;
    vm.losesState();
    const again = vm.reports('Scheduled', '09:15', reboot, { evidence: ['present-at-first-look'] });
    return {
      title: 'A VM loses its state and still lists the event: its new stream gives the end the id of an earlier end',
      rule: 'Rules 4 and 7: the Snapshot lists the event, so it stays open; deduplicate by streamId and recordId',
      runs: [
        run(
          step([before[0]], ['drain kept_0']),
          step([before[1]], ['restore kept_0']),
          step([before[2]], ['drain kept_0']),
        ),
        start(
          [again, vm.sees('09:20', [reboot])],
          [],
          step([vm.reports('Completed', '09:55', reboot, { evidence: ['boot-id-changed'] })], ['restore kept_0']),
        ),
        nothingNew,
      ],
    };
  },

  'presumed-end'() {
    const [vm, other] = [new Bridge('presumed_0'), new Bridge('presumed_1')];
    const freeze = event('presumed', 'Freeze', '09:50', ['presumed_0']);
    const scheduled = vm.reports('Scheduled', '09:05', freeze);
    const changed = { evidence: ['durationSeconds-changed'] };
    const late = vm.reports('Updated', '09:06', freeze, changed);
    const unsent = vm.reports('Updated', '09:07', freeze, changed);
    vm.losesState();
    return {
      title: 'A VM loses its state and no longer lists the event: it is presumed to have ended',
      rule: 'Rules 4: treat an event that an earlier stream of the VM left open as ended, unless the Snapshot lists it',
      runs: [
        run(
          step([scheduled], ['drain presumed_0']),
          // The first stream of a VM that never reported the event says nothing about it.
          step([other.sees('09:08', [])]),
          step([late]),
        ),
        start(
          [vm.sees('09:20', [])],
          ['restore presumed_0'],
          step([scheduled, unsent]),
          // Azure lists it again.
          step([vm.reports('Scheduled', '09:25', freeze)], ['drain presumed_0']),
          step([vm.reports('Canceled', '09:30', freeze)], ['restore presumed_0']),
        ),
        nothingNew,
      ],
    };
  },

  'snapshot-first'() {
    const vm = new Bridge('snapshot_0');
    const freeze = event('snapshot', 'Freeze', '09:50', ['snapshot_0']);
    const old = [vm.reports('Scheduled', '09:05', freeze), vm.reports('Started', '09:50', freeze)];
    vm.losesState();
    return {
      title: 'Partitions out of order: the Snapshot of the new stream is read before the records of the old one',
      rule: 'Rules 4, and the partition key of a Snapshot is its own event id: it can arrive before what it ends',
      runs: [run(step([vm.sees('10:05', [])]), step(old)), nothingNew],
    };
  },

  'earlier-not-before'() {
    const vm = new Bridge('earlier_0');
    const announced = event('earlier', 'Freeze', '10:20', ['earlier_0']);
    const earlier = event('earlier', 'Freeze', '09:30', ['earlier_0']);
    const change = { field: 'notBefore' as const, from: announced.notBefore, to: earlier.notBefore };
    return {
      title: 'Azure moves the event to an earlier time',
      rule: 'Phases: Updated is about the event that was announced before',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', announced)], ['drain earlier_0']),
          step([vm.reports('Updated', '09:15', earlier, { evidence: ['notBefore-earlier'], changes: [change] })]),
          step([vm.reports('Started', '09:30', earlier)]),
          step([vm.reports('Completed', '09:31', earlier, afterStart)], ['restore earlier_0']),
        ),
      ],
    };
  },

  'list-of-vms'() {
    const [leaves, stays, joins] = ['list_0', 'list_1', 'list_2'].map((name) => new Bridge(name)) as [
      Bridge,
      Bridge,
      Bridge,
    ];
    const named = (...vms: string[]) => event('list', 'Reboot', '09:50', vms);
    const changed = { evidence: ['affectedResources-changed'] };
    return {
      title: 'A VM leaves the list of affected VMs, and another one joins it',
      rule: 'Phases: Updated reports a changed list of VMs, in affectedResources',
      runs: [
        run(
          step(
            [leaves, stays].map((vm) => vm.reports('Scheduled', '09:05', named('list_0', 'list_1'))),
            ['drain list_0', 'drain list_1'],
          ),
          step([stays.reports('Updated', '09:10', named('list_1'), changed)], ['restore list_0']),
          step([leaves.reports('Updated', '09:10', named('list_1'), { evidence: ['left-resources'] })]),
          step(
            [
              stays.reports('Updated', '09:15', named('list_1', 'list_2'), changed),
              joins.reports('Scheduled', '09:15', named('list_1', 'list_2'), { evidence: ['became-affected'] }),
            ],
            ['drain list_2'],
          ),
          step([stays.reports('Canceled', '09:20', named('list_1', 'list_2'))], ['restore list_1', 'restore list_2']),
        ),
        nothingNew,
      ],
    };
  },

  reappeared() {
    const vm = new Bridge('reappeared_0');
    const reboot = event('reappeared', 'Reboot', '09:50', ['reappeared_0']);
    const ended = vm.reports('Ended', '09:10', reboot, lostSight);
    return {
      title: 'An event returns after its end was reported',
      rule: 'Rules 6: reappeared in evidence revokes the end that was reported before',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', reboot)], ['drain reappeared_0']),
          step([ended], ['restore reappeared_0']),
          step([vm.reports('Scheduled', '09:12', reboot, reappeared)], ['drain reappeared_0']),
          step([ended]),
        ),
        start(
          [ended],
          [],
          step([vm.reports('Completed', '09:55', reboot, { evidence: ['boot-id-changed'] })], ['restore reappeared_0']),
        ),
      ],
    };
  },

  clocks() {
    const fast = new Bridge('clocks_0', { clockOffsetSeconds: -600 });
    const right = new Bridge('clocks_1');
    const reboot = event('clocks', 'Reboot', '09:50', ['clocks_0', 'clocks_1']);
    const both = (act: string): string[] => [`${act} clocks_0`, `${act} clocks_1`];
    return {
      title: 'The clock of one VM is ten minutes fast: by its own clock, its end is later than the return of the event',
      rule: 'Rules 5 and 6: add clockOffsetSeconds to observedAt before comparing the times of several VMs',
      runs: [
        run(
          step(
            [fast, right].map((vm) => vm.reports('Scheduled', '09:05', reboot)),
            both('drain'),
          ),
          step([fast.reports('Ended', '09:10', reboot, lostSight)], both('restore')),
          step([right.reports('Scheduled', '09:12', reboot, reappeared)], both('drain')),
          step([right.reports('Canceled', '09:30', reboot)], both('restore')),
        ),
        nothingNew,
      ],
    };
  },

  'clock-set-back'() {
    const vm = new Bridge('back_0');
    const reboot = event('clock set back', 'Reboot', '10:50', ['back_0']);
    const unknown = { clockOffsetSeconds: null };
    return {
      title: 'A VM whose clock is fast reports an end, then its clock is set right, and the event returns',
      rule: 'Rules 9: sequence orders the records that one VM sends of an event',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:30', reboot, unknown)], ['drain back_0']),
          step([vm.reports('Ended', '09:35', reboot, { ...unknown, ...lostSight })], ['restore back_0']),
          step([vm.reports('Scheduled', '09:12', reboot, { ...unknown, ...reappeared })], ['drain back_0']),
        ),
        start([], [], step([vm.reports('Canceled', '09:15', reboot, unknown)], ['restore back_0'])),
        nothingNew,
      ],
    };
  },

  'numbers-used-twice'() {
    const vm = new Bridge('twice_0');
    const earlier = event('numbers used twice', 'Reboot', '09:40', ['twice_0']);
    const announced = event('numbers used twice', 'Reboot', '09:50', ['twice_0']);
    const change = { field: 'notBefore' as const, from: announced.notBefore, to: earlier.notBefore };
    return {
      title:
        'A VM cannot write to its disk, sends records from memory and is killed: its next process sends the end with a number that was sent before',
      rule: 'Rules 9: if two records of one VM and event have the same sequence, time orders them',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', announced)], ['drain twice_0']),
          // From here on only in memory.
          step([vm.reports('Updated', '09:10', earlier, { evidence: ['notBefore-earlier'], changes: [change] })]),
          step([vm.reports('Started', '09:40', earlier)]),
          // The file has only the first record.
          step(
            [vm.reports('Completed', '09:48', earlier, { evidence: ['boot-id-changed'], sequence: 2, position: 2 })],
            ['restore twice_0'],
          ),
        ),
        nothingNew,
      ],
    };
  },

  letters() {
    const [vm, witness] = [new Bridge('letters_0'), new Bridge('letters_1')];
    const upper = event('letters', 'Reboot', '09:50', ['letters_0']);
    const lower = { ...upper, eventId: upper.eventId.toLowerCase() };
    return {
      title: 'Two VMs spell the id of the event differently',
      rule: 'Identifiers: ignore case when you compare event ids',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', upper)], ['drain letters_0']),
          step([witness.reports('Canceled', '09:15', lower)], ['restore letters_0']),
        ),
        nothingNew,
      ],
    };
  },

  'same-name'() {
    const [one, other] = ['same-name-a', 'same-name-b'].map((group) => new Bridge('same_0', { group })) as [
      Bridge,
      Bridge,
    ];
    const [first, second] = [1, 2].map((n) => event(`same name ${n}`, 'Reboot', '09:50', ['same_0'])) as [
      ListedEvent,
      ListedEvent,
    ];
    return {
      title: 'Two resource groups have a VM of the same name: they are two VMs',
      rule: 'reference/records.md: resourceId, subscriptionId and resourceGroup of the observer; an event is within one group',
      runs: [
        run(
          step([one.reports('Scheduled', '09:05', first)], ['drain same_0']),
          step([other.reports('Scheduled', '09:06', second)], ['drain same_0']),
          step([one.reports('Canceled', '09:10', first)], ['restore same_0']),
          step([other.reports('Canceled', '09:11', second)], ['restore same_0']),
        ),
        nothingNew,
      ],
    };
  },

  'later-versions'() {
    const vm = new Bridge('later_0');
    const known = event('later versions', 'Hibernate', '09:50', ['later_0']);
    const unknown = event('an unknown phase alone', 'Freeze', '09:50', ['later_0']);
    const next = event('the next contract', 'Freeze', '09:50', ['later_0']);
    const ofLater = { schemaVersion: '1.9', evidence: ['said-by-oracle'], expectedRecovery: { minutes: 3 } };
    const postponed = 'Postponed' as Phase;
    return {
      title:
        'A later release writes phases, types, evidence and fields that a subscriber does not know, and one writes 2.0',
      rule: 'Rules 1, and Versions: within 1.x fields are added and sets are open; 2.0 is another type of CloudEvent',
      runs: [
        run(
          step([vm.reports(postponed, '09:04', unknown, ofLater)]),
          step([vm.reports('Scheduled', '09:05', known, ofLater)], ['drain later_0']),
          step([vm.reports(postponed, '09:10', known, ofLater)]),
          step([ofVersion2(vm.reports('Scheduled', '09:11', next, { schemaVersion: '2.0' }))]),
          step([vm.reports('Completed', '09:55', known, ofLater)], ['restore later_0']),
        ),
        nothingNew,
      ],
    };
  },

  tests() {
    const vm = new Bridge('tests_0');
    const freeze = event('a test', 'Freeze', '09:20', ['tests_0']);
    const real = event('no test', 'Freeze', '09:40', ['tests_0']);
    const isTest = { isTest: true };
    return {
      title: 'Test records announce an event, and say that a real one is over',
      rule: 'Rules 2: isTest is true on records that a test command wrote',
      runs: [
        run(
          step([vm.reports('Scheduled', '09:05', freeze, isTest)]),
          step([vm.reports('Scheduled', '09:25', real)], ['drain tests_0']),
          step([vm.reports('Completed', '09:30', real, { ...isTest, ...afterStart })]),
          step([vm.reports('Completed', '09:41', real, afterStart)], ['restore tests_0']),
        ),
        nothingNew,
      ],
    };
  },

  'foreign-messages'() {
    const vm = new Bridge('foreign_0');
    const freeze = event('foreign', 'Freeze', '09:20', ['foreign_0']);
    const partition = partitionOf(freeze.eventId.toLowerCase());
    const scheduled = vm.reports('Scheduled', '09:05', freeze);
    const completed = vm.reports('Completed', '09:21', freeze, afterStart);
    const order = {
      partition,
      properties: { 'cloudEvents:specversion': '1.0', 'cloudEvents:type': 'com.contoso.order.v1' },
      body: { phase: 'Scheduled', affectedResources: ['foreign_0'], eventId: freeze.eventId },
    };
    const { body: _, ...attributes } = completed;
    return {
      title: 'Other programs use the hub: none of their messages stops the subscriber or the batch that contains it',
      rule: 'Rules 1; a message that claims to be a record and is none is skipped',
      runs: [
        start(
          [order, ...['{', 'null', '[1]', '"1.0"', '17', ''].map((text) => withoutAttributes(partition, text))],
          [],
          step([withoutAttributes(partition, Uint8Array.of(0xff, 0xfe)), scheduled], ['drain foreign_0']),
          step([{ ...attributes, bodyBase64: Buffer.from('{"phase": "Comp').toString('base64') }]),
          step([{ ...attributes, body: { ...order.body, schemaVersion: '1.1', recordId: '1', phase: 'Completed' } }]),
          step([order, completed], ['restore foreign_0']),
        ),
        nothingNew,
      ],
    };
  },
};

/** The same record under the next contract, which `infra/record.md` announces as another type and another schema. */
function ofVersion2(message: Message): Message {
  const { properties = {} } = message;
  const type = properties['cloudEvents:type']?.replace(/v1$/, 'v2') ?? '';
  const dataschema = properties['cloudEvents:dataschema']?.replace(/v1$/, 'v2') ?? '';
  return { ...message, properties: { ...properties, 'cloudEvents:type': type, 'cloudEvents:dataschema': dataschema } };
}
