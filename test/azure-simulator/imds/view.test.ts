import { describe, expect, test } from 'vitest';
import { createGroupDocument } from '../../../src/azure-simulator/imds/document.ts';
import { openView } from '../../../src/azure-simulator/imds/view.ts';
import { createVm, type VmDefinition } from '../../../src/azure-simulator/imds/vm.ts';

type Group = ReturnType<typeof createGroupDocument>;

/** What a VM is shown: the number of the document and the events in it. */
const shown = (view: ReturnType<typeof openView>): string =>
  [view.document.DocumentIncarnation, ...view.document.Events.map(({ EventId }) => EventId)].join(' ');

const about = (eventId: string, ...resources: string[]) => ({ eventId, eventType: 'Freeze', resources });
const setUps: Readonly<Record<string, (group: Group) => void>> = {
  'A of another VM': (group) => group.schedule(about('A', 'web_1')),
  'A of another VM, then B of both': (group) => {
    group.schedule(about('A', 'web_1'));
    group.schedule(about('B', 'web_1', 'WEB_0'));
  },
  'A comes, starts and goes': (group) => {
    group.schedule(about('A', 'web_0'));
    group.start('A');
    group.remove('A');
  },
  'the numbers begin again': (group) => {
    group.schedule(about('A', 'web_0'));
    group.start('A');
    group.change((document) => {
      document.DocumentIncarnation = 1;
    });
  },
  'another list under the same number': (group) =>
    group.change(({ Events }) => Events.push({ EventId: 'A', Resources: ['web_0'] } as never), {
      sameIncarnation: true,
    }),
};

const cases: readonly (readonly [history: string, vm: Partial<VmDefinition>, expected: string])[] = [
  ['A of another VM', {}, '2 A'],
  ['A of another VM', { sees: 'own' }, '1'],
  ['A of another VM', { incarnationOffset: 40 }, '42 A'],
  ['A of another VM', { misses: [2] }, '1'],
  ['A of another VM, then B of both', { sees: 'own' }, '2 B'],
  ['A of another VM, then B of both', { misses: [2] }, '3 A B'],
  ['A comes, starts and goes', {}, '4'],
  ['A comes, starts and goes', { sees: 'own', incarnationOffset: 10 }, '14'],
  ['A comes, starts and goes', { misses: [4] }, '3 A'],
  ['the numbers begin again', {}, '1 A'],
  ['the numbers begin again', { sees: 'own' }, '1 A'],
  ['another list under the same number', {}, '1 A'],
  ['another list under the same number', { sees: 'own' }, '1 A'],
];

describe('the view of the endpoint of web_0', () => {
  test.each(cases)('after %s, to a VM with %j: %s', (history, traits, expected) => {
    const group = createGroupDocument();
    const view = openView(group, createVm({ name: 'web_0', ...traits }));
    setUps[history]?.(group);
    expect(shown(view)).toBe(expected);
  });

  test('nothing that the reader does to it changes it', () => {
    const group = createGroupDocument();
    const view = openView(group, createVm({ name: 'web_0' }));
    group.schedule(about('A', 'web_0'));
    view.document.Events.pop();
    expect(shown(view)).toBe('2 A');
  });

  test('a VM that joins late is shown the current list, and a closed view stays unchanged', () => {
    const group = createGroupDocument();
    group.schedule(about('A', 'web_0'));
    const view = openView(group, createVm({ name: 'web_0' }));
    expect(shown(view)).toBe('2 A');
    view.close();
    group.remove('A');
    expect(shown(view)).toBe('2 A');
  });

  test('an event of another VM is known to the group, not to a VM that sees its own only', () => {
    const group = createGroupDocument();
    const [all, own] = (['group', 'own'] as const).map((sees) => openView(group, createVm({ name: 'web_0', sees })));
    group.schedule(about('A', 'web_1'));
    group.remove('A');
    expect([all?.knows('a'), own?.knows('a'), all?.knows('b')]).toEqual([true, false, false]);
  });
});
