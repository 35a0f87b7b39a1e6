import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BootedMachine, bootMachine } from '../host-install/booted-machine.ts';
import { until } from '../support/until.ts';
import { startAgent } from './agent.ts';
import { makeExtension } from './extension-packages.ts';
import { type OwnNetwork, openNetwork } from './own-network.ts';
import type { GivenGoal, HandlerStatus } from './wire-server.ts';

export const extension = 'Example.ScheduledEventsBridge';
export const vm = 'web_0';

/** A machine with the agent of Azure, and the Azure that it is in. */
export interface Scene {
  readonly machine: BootedMachine;
  readonly azure: OwnNetwork['call'];
  /** Has Azure want this of the agent, which has not seen it yet. */
  want(goal: Partial<GivenGoal>): Promise<void>;
  /** Resolves when the agent reports this of the extension. */
  reports(what: (status: HandlerStatus) => boolean): Promise<HandlerStatus>;
  /** A property of the service in the words of `systemctl show`. */
  service(property: string): Promise<string>;
  /** The ends of the logs of the agent and of the handler. */
  logs(): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param packages the folder with a folder for each version. */
export async function openScene(packages: string, versions: readonly string[]): Promise<Scene> {
  await using disposables = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'extension-'));
  disposables.defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const version of versions) await makeExtension(version, folder, packages);
  const network = disposables.use(await openNetwork({ vm, extension, packages: folder }));
  const azure = network.call;
  const machine = disposables.use(
    await bootMachine('agent', packages, { system: 'Debian 13 with waagent', networkOf: network.pid }),
  );
  const { ca } = await azure('addresses');
  writeFileSync(join(machine.media, 'ca.pem'), ca);
  for (const version of versions) await azure('publish', version);
  let goal: GivenGoal = { version: '', state: 'enabled', sequence: 0, publicSettings: null, protectedSettings: null };
  await startAgent(machine);
  await until(() => azure('status'), { what: 'a first status of the agent' });
  const owned = disposables.move();
  return {
    machine,
    azure,
    async want(change) {
      goal = { ...goal, ...change };
      await azure('want', goal);
    },
    reports: (what) =>
      until(async () => (await azure('status'))?.handlers.find((one) => one.handlerName === extension && what(one)), {
        timeoutMs: 120_000,
        what: `a status of the extension with ${what}`,
      }),
    service: (property) => machine.ok(`systemctl show --property=${property} --value scheduled-events-bridge`),
    async logs() {
      const files = `/var/log/waagent.log /var/log/azure/${extension}/*.log`;
      return (await machine.run(`tail --lines=40 ${files}; journalctl --no-pager --lines=40`)).out;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
