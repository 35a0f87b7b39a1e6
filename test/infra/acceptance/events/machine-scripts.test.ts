import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readPiece } from '../../../../infra/acceptance/events/azure-machines.ts';
import { machineScripts, pieceLength } from '../../../../infra/acceptance/events/machine-scripts.ts';
import { createPowerShellReader } from '../../../support/powershell.ts';

const scriptsOf = (os: 'linux' | 'windows') => {
  const { startRecording, stopRecording, packRecording, run, piece } = machineScripts(os);
  return {
    startRecording,
    stopRecording,
    packRecording,
    run: run(['approve', "it's", '--yes']),
    piece: piece(pieceLength),
  };
};

describe('on Linux', () => {
  /** The scripts with paths of a directory instead of the machine's. */
  function onMachine() {
    const directory = mkdtempSync(join(tmpdir(), 'machine-scripts-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const within = (script: string): string =>
      script.replaceAll(/(?<=^|[\s<>"'`])\/(?=(opt|var)\/)/gm, `${directory}/`);
    const sh = (script: string) => spawnSync('sh', ['-c', within(script)], { encoding: 'utf8' });
    for (const folder of ['var/lib/scheduled-events-recorder', 'var/tmp', 'opt/scheduled-events-bridge/current']) {
      mkdirSync(join(directory, folder), { recursive: true });
    }
    return { directory, sh };
  }

  /** As the target fetches it. */
  function fetched(sh: ReturnType<typeof onMachine>['sh'], script: string) {
    const { stdout, status } = sh(script);
    const first = readPiece(stdout);
    let packed = first?.text ?? '';
    while (packed.length < (first?.length ?? 0))
      packed += readPiece(sh(machineScripts('linux').piece(packed.length)).stdout)?.text;
    return {
      status,
      pieces: Math.ceil(packed.length / pieceLength),
      text: gunzipSync(Buffer.from(packed, 'base64')).toString(),
    };
  }

  test('every script is one that sh can parse', () => {
    for (const script of Object.values(scriptsOf('linux'))) {
      const { status, stderr } = spawnSync('sh', ['-n'], { input: script, encoding: 'utf8' });
      expect({ status, stderr, script }).toEqual({ status: 0, stderr: '', script });
    }
  });

  test('a recording of several files is fetched whole, in as many pieces as it takes', () => {
    const { directory, sh } = onMachine();
    // Random text is hardly compressed.
    const lines = Array.from({ length: 200 }, (_, index) => `${index} ${Math.random()} ${Math.random()}`).join('\n');
    writeFileSync(join(directory, 'var/lib/scheduled-events-recorder/1.jsonl'), lines);
    writeFileSync(join(directory, 'var/lib/scheduled-events-recorder/2.jsonl'), 'the last\n');
    const { status, pieces, text } = fetched(sh, machineScripts('linux').packRecording);
    expect({ status, text }).toEqual({ status: 0, text: `${lines}\nthe last\n\n` });
    expect(pieces).toBeGreaterThan(1);
  });

  test('a command of the bridge gets its arguments as they are, and its output and exit code are returned', () => {
    const { directory, sh } = onMachine();
    const bridge = join(directory, 'opt/scheduled-events-bridge/current/scheduled-events-bridge');
    writeFileSync(bridge, '#!/bin/sh\nprintf "[%s]" "$@"\necho failed >&2\nexit 22\n');
    chmodSync(bridge, 0o755);
    const { status, text } = fetched(sh, machineScripts('linux').run(['approve', `it's $HOME "x"`, '--yes']));
    expect({ status, text }).toEqual({ status: 22, text: `[approve][it's $HOME "x"][--yes]failed\n` });
  });

  test('systemd starts the recorder with a file of its own each time', () => {
    const unit = /<<'UNIT'\n([\s\S]*?)\nUNIT\n/.exec(machineScripts('linux').startRecording)?.[1] ?? '';
    // https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html#Command%20lines: $$ is $, %% is %.
    const line = /^ExecStart=\/bin\/sh -c '(.*)'$/m.exec(unit)?.[1]?.replaceAll('$$', '$').replaceAll('%%', '%') ?? '';
    const names = [1, 2].map(
      () => spawnSync('sh', ['-c', line.replace('exec ', 'echo ')], { encoding: 'utf8' }).stdout,
    );
    expect(names[0]).toMatch(/ record \/var\/lib\/scheduled-events-recorder\/\d{8}T\d{15}\.jsonl\n$/);
    expect(names[1]).not.toBe(names[0]);
    expect(unit).toContain('Restart=always');
  });
});

describe('on Windows', () => {
  test('every script is one that PowerShell 5.1 can parse', async () => {
    const { faultsIn } = await createPowerShellReader();
    for (const script of Object.values(scriptsOf('windows'))) expect(faultsIn(script)).toEqual([]);
  });
});

test('what is no piece is none', () => {
  expect(readPiece('sh: 1: gzip: not found')).toBeNull();
  expect(readPiece('12 QUJD\nREVG')).toEqual({ length: 12, text: 'QUJDREVG' });
});
