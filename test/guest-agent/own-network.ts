import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { images } from '../host-install/image.ts';
import type { Answer, AzureCalls, AzureOptions } from './azure-process.ts';
import { wireServerAddress } from './wire-server.ts';

/** A network that nothing else is in, and Azure in it. */
export interface OwnNetwork {
  /** A process in it. */
  readonly pid: number;
  call<Name extends keyof AzureCalls>(
    name: Name,
    ...args: Parameters<AzureCalls[Name]>
  ): Promise<Awaited<ReturnType<AzureCalls[Name]>>>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** All addresses are on the loopback interface. The agent looks for the route to its wire server. */
const makeNetwork = `
  set -e
  ip() { chroot "$0" /usr/sbin/ip "$@"; }
  ip link set lo up
  ip address add ${wireServerAddress}/32 dev lo
  ip route add ${wireServerAddress}/32 dev lo
  ip address add 169.254.169.254/32 dev lo
  exec "$@"`;

/** It ends with this process, however that ends. */
export async function openNetwork(options: AzureOptions): Promise<OwnNetwork> {
  const program = [process.execPath, join(import.meta.dirname, 'azure-process.ts'), JSON.stringify(options)];
  const line = ['--pdeathsig', 'KILL', 'unshare', '--net', 'sh', '-c', makeNetwork, images['Debian 13 with waagent']];
  const child = spawn('setpriv', [...line, ...program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const answerOf = (id: number): Promise<unknown> => {
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    return answer.promise;
  };
  child.on('message', ({ id, value, error }: Answer) => {
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answer?.resolve(value);
    else answer?.reject(new Error(error));
  });
  void ended.then(() => {
    for (const answer of waiting.values()) answer.reject(new Error('Azure has ended.'));
  });
  await answerOf(0);
  let calls = 0;
  return {
    pid: Number(child.pid),
    call(name, ...args) {
      calls += 1;
      const answer = answerOf(calls);
      child.send({ id: calls, name, args });
      return answer as never;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
