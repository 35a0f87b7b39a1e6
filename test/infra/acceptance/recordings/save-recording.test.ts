import { expect, test } from 'vitest';
import { saveRecording } from '../../../../infra/acceptance/recordings/save-recording.ts';
import { writeChange, writeHeader } from '../../../../src/recording/format.ts';
import { recordingOf, scheduled } from './plays.ts';

const run = {
  id: 'k3x9',
  subscription: 'c7061bac-afdc-4513-b24b-aa5f13a16123',
  location: 'westeurope',
  folder: '/tmp/run',
  tags: {},
  groups: { platform: 'rg-seb-acceptance-k3x9-platform', machines: 'rg-seb-acceptance-k3x9-machines' },
};
const saving = () => {
  const saved = new Map<string, string>();
  const said: string[] = [];
  return {
    saved,
    said,
    context: {
      run,
      found: new Map([['vm', { machines: [{ name: 'vm-k3x9', role: 'single', scaleSet: null }], hub: 'events' }]]),
      say: (line: string) => void said.push(line),
      save: (name: string, text: string) => {
        saved.set(name, text);
        return name;
      },
    },
  };
};
const textOf = (events: readonly (typeof scheduled)[]): string => {
  const { header } = recordingOf([], 'vm-k3x9');
  const document = { DocumentIncarnation: 1, Events: events };
  return writeHeader(header) + writeChange({ atSeconds: 1, seen: { document } });
};

test('the recording of a scenario is saved without the names of the run', () => {
  const { saved, said, context } = saving();
  const Description = `Restart of vm-k3x9 in ${run.groups.machines}, ${run.subscription}`;
  expect(saveRecording(context, 'restart', textOf([{ ...scheduled, Resources: ['vm-k3x9'], Description }]))).toBe(
    'recordings/restart.jsonl',
  );
  expect(saved.get('recordings/restart.jsonl')).toContain(
    '"Description":"Restart of vm-0 in resource-group-0, facade00-',
  );
  expect(said).toEqual([]);
});

test('a recording in which a name is left is not saved', () => {
  const { saved, said, context } = saving();
  // A name of a field is taken for one of Azure's unless it is known.
  expect(saveRecording(context, 'restart', textOf([{ ...scheduled, OwnerKx: 'k3x9' }]))).not.toBeNull();
  expect(
    saveRecording({ ...context, run: { ...run, id: 'Ownerk' } }, 'restart', textOf([{ ...scheduled, OwnerKx: 1 }])),
  ).toBeNull();
  expect([...saved.keys()]).toHaveLength(1);
  expect(said).toEqual([
    'The recording of restart is not saved: without names it would still have line 2: a planted or known name.',
  ]);
});

test('a file that is no recording is not saved', () => {
  const { saved, said, context } = saving();
  expect(saveRecording(context, 'restart', 'x')).toBeNull();
  expect([saved.size, said]).toEqual([
    0,
    [expect.stringMatching(/^The recording of restart is not saved.*line 1 is not the header/)],
  ]);
});
