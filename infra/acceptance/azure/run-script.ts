import { join } from 'node:path';
import { AzError } from '../az.ts';
import type { StepContext } from '../step.ts';
import type { MachineFound } from './found.ts';
import { runScript, type ScriptHost } from './machine-commands.ts';
import { type AzureTools, retry } from './tools.ts';

export interface ScriptResult {
  /** Null if the script was ended, or printed too much on stderr to be seen. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Azure returns the last 4,096 bytes of everything that was printed; this leaves room for the exit code. */
const shownBytes = 3_000;
const exitCodeMark = 'acceptance-exit-code=';

/** A script for `sh` that prints the end of what another prints, and then its exit code. */
const wrappedForLinux = (script: string): string =>
  `output=$( (\n${script}\n) )\ncode=$?\nprintf '%s' "$output" | tail -c ${shownBytes}\nprintf '\\n${exitCodeMark}%s\\n' "$code"\n`;

/** The same for PowerShell; the exit code is that of the last program, which sets the global variable. */
const wrappedForWindows = (script: string): string =>
  [
    '$global:LASTEXITCODE = 0',
    `$output = & {\n${script}\n} | Out-String -Width 4096`,
    '$code = $global:LASTEXITCODE',
    `if ($output.Length -gt ${shownBytes}) { $output = $output.Substring($output.Length - ${shownBytes}) }`,
    'Write-Output $output',
    `Write-Output "${exitCodeMark}$code"`,
    '',
  ].join('\r\n');

export const wrapped = (os: ScriptHost['os'], script: string): string =>
  os === 'windows' ? wrappedForWindows(script) : wrappedForLinux(script);

/** Where the scripts for a machine run. */
export const hostOf = ({ resourceGroup, name, scaleSet, instanceId, os }: MachineFound): ScriptHost => ({
  resourceGroup,
  name: instanceId === null || scaleSet === null ? name : scaleSet,
  instanceId,
  os,
});

/** https://learn.microsoft.com/rest/api/compute/virtual-machines/run-command#runcommandresult */
interface RunCommandResult {
  readonly value?: readonly { readonly code?: string; readonly message?: string }[];
}

/** What a script printed. On Linux one message has both streams, on Windows each has its own. */
export function readResult({ value = [] }: RunCommandResult): ScriptResult {
  const ofStream = (stream: string): string => value.find(({ code }) => code?.includes(`/${stream}/`))?.message ?? '';
  const both = /\[stdout\]\n([\s\S]*?)\n?\[stderr\]\n?([\s\S]*)$/.exec(value[0]?.message ?? '');
  const stdout = both?.[1] ?? ofStream('StdOut');
  const stderr = both?.[2] ?? ofStream('StdErr');
  const at = stdout.lastIndexOf(exitCodeMark);
  if (at === -1) return { exitCode: null, stdout: stdout.trim(), stderr: stderr.trim() };
  const code = /^-?\d+/.exec(stdout.slice(at + exitCodeMark.length))?.[0];
  return {
    exitCode: code === undefined ? null : Number(code),
    stdout: stdout.slice(0, at).trim(),
    stderr: stderr.trim(),
  };
}

/**
 * Azure's answers while another script runs on the VM, and until its agent has reported. Both pass.
 * https://learn.microsoft.com/azure/virtual-machines/linux/run-command#troubleshooting
 */
const isBusy = (error: unknown): boolean =>
  error instanceof AzError &&
  (error.code === 'Conflict' ||
    /run command extension execution is in progress|agent is not (ready|reporting)/i.test(error.message));

/**
 * Runs a script on a machine as root or SYSTEM, and returns the end of what it printed. Scripts contain no secrets: they are kept in the
 * folder of the run.
 *
 * @param isRaw the script runs as it is: its exit code is unknown, and Azure chooses what it returns of a long output
 */
export async function runOn(
  context: Pick<StepContext, 'run' | 'az' | 'save' | 'say' | 'signal'>,
  tools: Pick<AzureTools, 'sleep'>,
  machine: MachineFound,
  { name, script, isRaw = false }: { readonly name: string; readonly script: string; readonly isRaw?: boolean },
): Promise<ScriptResult> {
  const extension = machine.os === 'windows' ? 'ps1' : 'sh';
  const file = join(
    context.run.folder,
    context.save(`${machine.name}.${name}.${extension}`, isRaw ? script : wrapped(machine.os, script)),
  );
  const patience = { what: `another script on ${machine.name}`, everySeconds: 20, limitMinutes: 10 };
  const answer = await retry(
    context,
    tools,
    patience,
    () => context.az.call(runScript(context.run, hostOf(machine), file), { timeoutMinutes: 30 }),
    isBusy,
  );
  return readResult((answer ?? {}) as RunCommandResult);
}
