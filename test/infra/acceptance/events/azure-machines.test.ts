import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { type Az, AzError } from '../../../../infra/acceptance/az.ts';
import { createAzureMachines } from '../../../../infra/acceptance/events/azure-machines.ts';
import { pieceLength } from '../../../../infra/acceptance/events/machine-scripts.ts';
import { temporaryDirectory } from '../../../support/bridge-process.ts';

const vm = { name: 'vm-1', role: 'single', os: 'linux', scaleSet: null } as const;
const found = new Map([
  ['vm', { machines: [{ ...vm, resourceId: '/vm-1', resourceGroup: 'rg', instanceId: null, size: 'small' }] }],
]);

/** What a VM prints for a script, with the exit code as the wrapper of scripts prints it; an error: the call fails. */
type Reply = (script: string) => string | AzError;

let waits = 0;
beforeEach(() => {
  waits = 0;
});

function machinesWith(folder: string, reply: Reply) {
  const calls: string[] = [];
  const az: Az = {
    async call(args) {
      calls.push(args.slice(0, 2).join(' '));
      const file = args.find((word) => word.startsWith('@'));
      if (file === undefined) return undefined;
      const answer = reply(readFileSync(file.slice(1), 'utf8'));
      if (answer instanceof Error) throw answer;
      return {
        value: [
          { code: 'ProvisioningState/succeeded', message: `Enable succeeded: \n[stdout]\n${answer}\n[stderr]\n` },
        ],
      };
    },
  };
  const run = {
    id: 'abc123',
    subscription: 'sub',
    location: 'westeurope',
    folder,
    tags: {},
    groups: { platform: 'p', machines: 'm' },
  };
  const machines = createAzureMachines(
    { run, az, found, say: () => {} },
    {
      sleep: async () => {
        waits += 1;
      },
    },
  );
  return { machines, calls };
}

const azError = (code: string): AzError => new AzError(code, { args: [], code, exitCode: 1 });

/** Replies with the pieces of a text, as the scripts on a VM print them. */
function piecesOf(text: string, exitCode = 0): Reply {
  const packed = gzipSync(text).toString('base64');
  return (script) => {
    const from = Number(/tail -c \+(\d+) \S+\.packed \|/.exec(script)?.[1] ?? 1) - 1;
    return `${packed.length} ${packed.slice(from, from + pieceLength)}\nacceptance-exit-code=${exitCode}`;
  };
}

test('a recording comes in several pieces, and as one although the VM has restarted', async () => {
  using folder = temporaryDirectory('azure-machines');
  const part = (begunAt: string, incarnation: number): string => {
    const events = Array.from({ length: 200 }, () => ({ EventId: crypto.randomUUID() }));
    const header = {
      format: 'scheduled-events-recording',
      version: 1,
      begunAt,
      endpoint: 'http://x',
      apiVersion: '2020-07-01',
      vm: null,
    };
    const change = { atSeconds: 0, document: { DocumentIncarnation: incarnation, Events: events } };
    return `${JSON.stringify(header)}\n${JSON.stringify(change)}\n\n`;
  };
  const text = `${part('2026-11-22T10:00:00.000Z', 1)}${part('2026-11-22T10:05:00.000Z', 2)}`;
  const { machines, calls } = machinesWith(folder.path, piecesOf(text));
  const recording = await machines.readRecording(vm);
  expect([...recording.matchAll(/"atSeconds":(\d+)/g)].map(([, seconds]) => seconds)).toEqual(['0', '300']);
  expect(calls.length).toBeGreaterThan(1);
});

test('a command returns what it printed with its exit code; an approval that is refused says why', async () => {
  using folder = temporaryDirectory('azure-machines');
  const { machines } = machinesWith(folder.path, piecesOf('Azure lists no event x.', 22));
  expect(await machines.runBridge(vm, ['status'])).toEqual({ exitCode: 22, stdout: 'Azure lists no event x.' });
  await expect(machines.approve(vm, 'x')).rejects.toThrow('approve ended with 22: Azure lists no event x.');
});

test('a VM that restarts is tried again; one that is gone is not', async () => {
  using folder = temporaryDirectory('azure-machines');
  const answers = [azError('OperationNotAllowed'), 'killed by the restart'];
  const { machines } = machinesWith(folder.path, (script) => answers.shift() ?? piecesOf('well')(script));
  expect((await machines.runBridge(vm, ['status'])).stdout).toBe('well');
  expect(waits).toBe(2);
  const gone = machinesWith(folder.path, () => azError('ResourceNotFound'));
  await expect(gone.machines.readRecording(vm)).rejects.toThrow('ResourceNotFound');
  expect(gone.calls).toHaveLength(1);
});

test('an operation is one call', async () => {
  using folder = temporaryDirectory('azure-machines');
  const { machines, calls } = machinesWith(folder.path, () => '');
  await machines.request('redeploy', vm);
  expect(calls).toEqual(['vm redeploy']);
  await expect(machines.request('restart', { ...vm, name: 'other' })).rejects.toThrow(
    'No step has created the VM other.',
  );
});
