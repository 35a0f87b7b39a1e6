import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type Calls, createCalls, type Methods } from '../../src/sender/calls.ts';

/** A program of a bench in a process of its own, so that its CPU time is counted apart, and the calls to it. */
export interface ChildProgram<M extends Methods> {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly call: Calls<M>['call'];
  end(): Promise<void>;
}

/** `file` in this folder serves the calls by `parentPort()` of `src/sender/channel.ts`. */
export function startProgram<M extends Methods>(file: string, env: NodeJS.ProcessEnv = {}): ChildProgram<M> {
  const child = fork(new URL(file, import.meta.url), {
    serialization: 'advanced',
    execArgv: ['--max-old-space-size=12000'],
    env: { ...process.env, ...env },
  });
  const calls = createCalls<M, Record<string, never>>(
    {
      post: (message) => void child.send(message as object),
      onMessage: (listener) => void child.on('message', listener),
    },
    {},
  );
  child.once('exit', (code) => calls.end(new Error(`${file} ended with code ${code}`)));
  return {
    child,
    pid: child.pid ?? 0,
    call: calls.call,
    async end() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}
