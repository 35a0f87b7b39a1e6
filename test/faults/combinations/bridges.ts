import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { FaultContext } from '../fault-test.ts';
import type { Order, Reply } from './protocol.ts';

/** The process in which the bridges of all combinations run, one after the other. */
export class Bridges implements AsyncDisposable {
  readonly #child: ChildProcess;
  #ended: string | null = null;

  private constructor() {
    this.#child = fork(join(import.meta.dirname, 'bridges-child.ts'), [], {
      env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name))),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let stderr = '';
    this.#child.stderr?.on('data', (chunk) => {
      stderr = (stderr + chunk).slice(-4000);
    });
    this.#child.once('exit', (code, signal) => {
      this.#ended = `the process of the bridges ended (${signal ?? code}): ${stderr}`;
      this.#child.emit('ended');
    });
  }

  static async start({ sources }: Pick<FaultContext, 'sources'>, ca: string): Promise<Bridges> {
    const bridges = new Bridges();
    await bridges.order({ kind: 'use', sources, ca });
    return bridges;
  }

  async order(order: Order): Promise<Reply> {
    if (this.#ended !== null) throw new Error(this.#ended);
    return await new Promise<Reply>((resolve, reject) => {
      const ended = (): void => reject(new Error(this.#ended ?? ''));
      this.#child.once('ended', ended);
      this.#child.once('message', (message) => {
        this.#child.off('ended', ended);
        resolve(message as Reply);
      });
      this.#child.send(order);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended !== null) return;
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.kill('SIGKILL')) await exited;
  }
}
