import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { type Ended, lastWord, runProgram } from '../program.ts';
import { Refusal } from '../refusals.ts';
import { hostName } from './places.ts';

/** The programs that the installer starts, by their full paths: Windows would search the working directory first. */
export interface Programs {
  readonly sc: string;
  readonly reg: string;
  readonly icacls: string;
  readonly cmd: string;
  /** The service host of the package that runs: it prints what sc.exe prints in the language of the machine. */
  readonly host: string;
}

export function programsOf(env: NodeJS.ProcessEnv, running = process.execPath): Programs {
  const folder = join(env.SystemRoot ?? 'C:\\Windows', 'System32');
  const [sc, reg, icacls, cmd] = ['sc.exe', 'reg.exe', 'icacls.exe', 'cmd.exe'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ];
  return { sc, reg, icacls, cmd, host: join(dirname(running), hostName) };
}

const timeoutMs = 60_000;

export interface Tools {
  /** Runs it to its end, whatever its exit code. */
  ask(program: keyof Programs, args: readonly string[]): Promise<Ended>;
  /** @throws Refusal where it fails. `meanings`: sentences for exit codes, which say what to do. */
  call(program: keyof Programs, args: readonly string[], meanings?: Readonly<Record<number, string>>): Promise<string>;
  /** Starts cmd.exe and does not wait for it. The arguments are taken as they are. */
  leave(args: readonly string[]): void;
}

interface ToolsOptions {
  readonly env: NodeJS.ProcessEnv;
  /** A test has programs of its own. */
  readonly run?: typeof runProgram;
  /** Service hosts of installed versions. They are asked where that of this package does not run: it may be damaged, or blocked. */
  readonly otherHosts: () => readonly string[];
}

export function createTools(programs: Programs, { env, run = runProgram, otherHosts }: ToolsOptions): Tools {
  /** The one that ran last. */
  let { host } = programs;
  const ask = async (program: keyof Programs, args: readonly string[]): Promise<Ended> => {
    const options = { env, timeoutMs };
    if (program !== 'host') return run(programs[program], args, options);
    const ended = await run(host, args, options);
    if (ended.failed === null) return ended;
    for (const other of otherHosts()) {
      const second = await run(other, args, options);
      if (second.failed !== null) continue;
      host = other;
      return second;
    }
    return ended;
  };
  return {
    ask,
    async call(program, args, meanings = {}) {
      const ended = await ask(program, args);
      if (ended.code === 0) return ended.out;
      const meaning = meanings[ended.code ?? -1];
      if (meaning !== undefined) throw new Refusal('notDone', meaning);
      // These programs print their errors in the language of the machine, some of them on stdout.
      const said = ended.err === '' ? ended.out.trim().replace(/\s+/g, ' ') : lastWord(ended);
      throw new Refusal(
        'notDone',
        `"${[program, ...args].join(' ')}" failed with exit code ${ended.code ?? ended.failed}: ${said || 'it said nothing'}`,
      );
    },
    leave(args) {
      spawn(programs.cmd, args, {
        env,
        cwd: dirname(programs.cmd),
        detached: true,
        stdio: 'ignore',
        windowsHide: true,
        windowsVerbatimArguments: true,
      }).unref();
    },
  };
}
