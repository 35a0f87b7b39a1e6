import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BootedMachine, bootMachine } from '../host-install/booted-machine.ts';
import { treeOf } from '../host-install/file-tree.ts';
import { until } from '../support/until.ts';
import { startAgent } from './agent.ts';
import { makeExtension } from './extension-packages.ts';
import { type OwnNetwork, openNetwork } from './own-network.ts';
import type { GivenGoal, HandlerStatus } from './wire-server.ts';

export const extension = 'Example.ScheduledEventsBridge';
export const vm = 'web_0';

/** The extension runs in this version with these settings, and the handler has reported it. */
export const isReady =
  (version: string, sequence: number) =>
  ({ handlerVersion, status, runtimeSettingsStatus }: HandlerStatus): boolean =>
    handlerVersion === version &&
    status === 'Ready' &&
    runtimeSettingsStatus?.sequenceNumber === sequence &&
    runtimeSettingsStatus.settingsStatus.status.status === 'success';

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
  /** Settings with both destinations, and no secret. */
  settings(): Promise<{ readonly publicSettings: object; readonly protectedSettings: object | null }>;
  /** Everything on the disk but what the agent keeps of itself. */
  files(): Promise<string[]>;
  /** Has Azure remove the extension; resolves when the agent reports none. */
  remove(): Promise<void>;
  /** The PID of a program in the machine with this argument, a regular expression; empty without one. */
  processWith(argument: string): Promise<string>;
  /** Prints the longest time between two polls since then. */
  printLongestPause(during: string, since: number): Promise<void>;
  /** The ends of the logs of the agent and of the handler. */
  logs(): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** @param packages the folder with a folder for each version. @param damaged the version whose package is damaged. */
export async function openScene(
  packages: string,
  versions: readonly string[],
  { damaged = '' }: { readonly damaged?: string } = {},
): Promise<Scene> {
  await using disposables = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'extension-'));
  disposables.defer(() => rmSync(folder, { recursive: true, force: true }));
  for (const version of versions) {
    await makeExtension(version, { folder, from: packages, isDamaged: version === damaged });
  }
  const network = disposables.use(await openNetwork({ vm, extension, packages: folder }));
  const azure = network.call;
  const machine = disposables.use(
    await bootMachine('agent', packages, { system: 'Debian 13 with waagent', networkOf: network.pid }),
  );
  const { ca } = await azure('addresses');
  writeFileSync(join(machine.media, 'ca.pem'), ca);
  for (const version of versions) await azure('publish', version);
  let goal: GivenGoal = { version: '', state: 'enabled', sequence: 0, publicSettings: null, protectedSettings: null };
  async function want(change: Partial<GivenGoal>): Promise<void> {
    goal = { ...goal, ...change };
    await azure('want', goal);
  }
  await startAgent(machine);
  await until(() => azure('status'), { what: 'a first status of the agent' });
  const owned = disposables.move();
  return {
    machine,
    azure,
    want,
    reports: (what) =>
      until(async () => (await azure('status'))?.handlers.find((one) => one.handlerName === extension && what(one)), {
        timeoutMs: 120_000,
        what: `a status of the extension with ${what}`,
      }),
    service: (property) => machine.ok(`systemctl show --property=${property} --value scheduled-events-bridge`),
    async settings() {
      const { eventHubs, logAnalytics } = await azure('addresses');
      return {
        publicSettings: {
          // The first answer is complete, so events that leave later have ended.
          imds: { firstTimeoutSeconds: 1 },
          sinks: { eventHubs, logAnalytics },
          tls: { caFile: '/media/ca.pem' },
        },
        protectedSettings: null,
      };
    },
    files: async () => (await treeOf(machine)).filter((line) => !line.startsWith('/var/lib/waagent/')),
    async remove() {
      await want({ state: 'uninstall' });
      await until(async () => (await azure('status'))?.handlers.length === 0, {
        timeoutMs: 60_000,
        what: 'a status without the extension',
      });
    },
    async processWith(argument) {
      // The bracket keeps grep from finding itself.
      const pattern = argument.replace(/.$/, '[$&]');
      const { out } = await machine.run(
        `grep --null-data --line-regexp --files-with-matches -e ${pattern} /proc/[0-9]*/cmdline`,
      );
      return /^\/proc\/(\d+)/m.exec(out)?.[1] ?? '';
    },
    async printLongestPause(during, since) {
      const polls = (await azure('polls')).filter((at) => at >= since);
      const longest = Math.max(...polls.slice(1).map((at, index) => at - Number(polls[index])));
      process.stdout.write(`Longest time between two polls during ${during}: ${longest} ms.\n`);
    },
    async logs() {
      const files = `/var/log/waagent.log /var/log/azure/${extension}/*.log`;
      return (await machine.run(`tail --lines=40 ${files}; journalctl --no-pager --lines=40`)).out;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
