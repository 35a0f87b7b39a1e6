import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../support/until.ts';

/** What a Node.js process holds, counted within it after a garbage collection. */
export interface Holdings {
  readonly heapMb: number;
  /** Listeners of all event emitters together. */
  readonly listeners: number;
  /** What keeps its event loop busy, by kind: `Timeout`, `TCPSocketWrap`, `TLSWrap`. https://nodejs.org/api/process.html#processgetactiveresourcesinfo */
  readonly resources: Readonly<Record<string, number>>;
}

const countListeners = `function () {
  let sum = 0;
  for (const emitter of this) {
    try { for (const name of emitter.eventNames()) sum += emitter.listenerCount(name); } catch {}
  }
  return sum;
}`;

/**
 * A process of Node.js, questioned through the inspector that SIGUSR1 opens. It has to have been started with `--inspect-port=0` in
 * NODE_OPTIONS, or several of them would want the same port. Linux only.
 */
export class InspectedProcess {
  readonly #socket: WebSocket;
  #lastId = 0;
  readonly #waiting = new Map<number, PromiseWithResolvers<Reply>>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as { readonly id?: number } & Reply;
      if (message.id === undefined) return;
      this.#waiting.get(message.id)?.resolve(message);
      this.#waiting.delete(message.id);
    });
    socket.addEventListener('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the process has ended'));
    });
  }

  static async open(pid: number): Promise<InspectedProcess> {
    const before = new Set(listeningPorts(pid));
    process.kill(pid, 'SIGUSR1');
    const port = await until(() => listeningPorts(pid).find((one) => !before.has(one)), {
      what: `inspector of ${pid}`,
    });
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
    const [target] = (await answer.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
    if (target === undefined) throw new Error(`the inspector of process ${pid} lists no target`);
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error(`no connection to the inspector of ${pid}`)), {
        once: true,
      });
    });
    return new InspectedProcess(socket);
  }

  async holdings(): Promise<Holdings> {
    await this.#ask('HeapProfiler.collectGarbage');
    // What finalizers release is collected by the second one.
    await sleep(100);
    await this.#ask('HeapProfiler.collectGarbage');
    const resources = await this.#evaluate<readonly string[]>('process.getActiveResourcesInfo()');
    const heap = await this.#evaluate<number>('process.memoryUsage().heapUsed');
    return { heapMb: heap / 2 ** 20, listeners: await this.#listeners(), resources: countsOf(resources) };
  }

  close(): void {
    this.#socket.close();
  }

  async #evaluate<T>(expression: string): Promise<T> {
    const { result } = await this.#ask('Runtime.evaluate', { expression, returnByValue: true });
    return (result as { readonly value: T }).value;
  }

  async #listeners(): Promise<number> {
    const objectGroup = 'holdings';
    const expression = "process.getBuiltinModule('node:events').EventEmitter.prototype";
    const { result: prototype } = await this.#ask('Runtime.evaluate', { expression, objectGroup });
    const { objectId: prototypeObjectId } = prototype as { readonly objectId: string };
    const { objects } = await this.#ask('Runtime.queryObjects', { prototypeObjectId, objectGroup });
    const { objectId } = objects as { readonly objectId: string };
    const { result } = await this.#ask('Runtime.callFunctionOn', {
      functionDeclaration: countListeners,
      objectId,
      returnByValue: true,
    });
    await this.#ask('Runtime.releaseObjectGroup', { objectGroup });
    return (result as { readonly value: number }).value;
  }

  async #ask(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    this.#lastId += 1;
    const waiting = Promise.withResolvers<Reply>();
    this.#waiting.set(this.#lastId, waiting);
    this.#socket.send(JSON.stringify({ id: this.#lastId, method, params }));
    const { result, error } = await waiting.promise;
    if (result === undefined) throw new Error(`${method}: ${error?.message ?? 'no result'}`);
    return result;
  }
}

interface Reply {
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
}

export function countsOf(names: readonly string[]): Record<string, number> {
  const groups = Map.groupBy(names, (name) => name);
  return Object.fromEntries([...groups].map(([name, all]) => [name, all.length]).toSorted());
}

/** TCP ports on which a process listens, by its descriptors and the kernel's table. https://docs.kernel.org/networking/proc_net_tcp.html */
function listeningPorts(pid: number): readonly number[] {
  const listening = '0A';
  const inodes = new Set(descriptorsOf(pid).map((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1]));
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === listening && inodes.has(inode))
    .map(([, address = '']) => Number.parseInt(address.split(':')[1] ?? '', 16));
}

/** What the open file descriptors of a process refer to. */
export function descriptorsOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return [];
    }
  });
}
