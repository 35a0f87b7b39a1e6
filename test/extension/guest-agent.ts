/**
 * A fake of Azure's guest agent: it unpacks the zip of a handler, and runs the commands of its manifest in the order, and with
 * the files and the environment, that WALinuxAgent 2.12 was observed to use. That of Windows is documented to use the same order.
 */

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { readZip } from './read-zip.ts';
import { faultsOfStatus } from './status-rules.ts';

/** One command of a handler, as the guest agent starts it. */
export interface Call {
  /** Of the manifest: `bin/handler enable`. */
  readonly line: string;
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export type Run = (call: Call) => Promise<Ended>;

type Verb = 'install' | 'enable' | 'disable' | 'update' | 'uninstall';
type State = 'NotInstalled' | 'Installed' | 'Enabled' | 'FailedUpgrade';

const timeouts: Readonly<Record<Verb, number>> = {
  install: 900_000,
  enable: 300_000,
  disable: 900_000,
  update: 900_000,
  uninstall: 300_000,
};

const name = 'Contoso.Bridge.ScheduledEventsBridge';

/** Settings of a goal state. `undefined`: the extension has none. */
export type Settings = Readonly<Record<string, unknown>> | undefined;

/** What the guest agent reports to Azure. */
export interface Reported {
  readonly code: number;
  readonly message: string;
}

interface StatusFile {
  readonly status: {
    readonly operation: string;
    readonly status: string;
    readonly code: number;
    readonly formattedMessage: { readonly message: string };
    readonly substatus: readonly {
      readonly name: string;
      readonly status: string;
      readonly formattedMessage: { readonly message: string };
    }[];
  };
}

/** The folders of a guest agent, below its root. */
interface Layout {
  readonly library: string;
  /** Of a version, below the library. */
  readonly handler: (version: string) => string;
  readonly config: string;
  readonly logs: (version: string) => string;
  readonly events: string;
  readonly heartbeat: string;
  /** What else HandlerEnvironment.json has. */
  readonly more: Readonly<Record<string, string>>;
  /** The path of a file as the handler sees it. */
  readonly seen: (root: string, path: string) => string;
  /** Of its commands. */
  readonly env: (folder: string, version: string) => Readonly<Record<string, string>>;
}

const linux: Layout = {
  library: 'var/lib/waagent',
  handler: (version) => `${name}-${version}`,
  config: 'config',
  logs: () => `var/log/azure/${name}`,
  events: 'events',
  heartbeat: 'heartbeat.log',
  more: {},
  seen: (_, path) => path,
  env: (folder, version) => ({
    AZURE_GUEST_AGENT_EXTENSION_PATH: folder,
    AZURE_GUEST_AGENT_EXTENSION_VERSION: version,
    AZURE_GUEST_AGENT_WIRE_PROTOCOL_ADDRESS: '168.63.129.16',
    AZURE_GUEST_AGENT_EXTENSION_SUPPORTED_FEATURES: '[{"Key":"ExtensionTelemetryPipeline","Value":"1.0"}]',
  }),
};

/** Whether that of Windows sets AZURE_GUEST_AGENT_* is not documented: a handler has to do without. */
const windows: Layout = {
  library: 'Packages/Plugins',
  handler: (version) => `${name}/${version}`,
  config: 'RuntimeSettings',
  logs: (version) => `WindowsAzure/Logs/Plugins/${name}/${version}`,
  events: 'Events',
  heartbeat: 'status/HeartBeat.Json',
  more: { deploymentid: '', rolename: '', instance: '', hostResolverAddress: '168.63.129.16' },
  seen: (root, path) => `C:\\${relative(root, path).replaceAll('/', '\\')}`,
  env: () => ({}),
};

export type GuestAgent = ReturnType<typeof createGuestAgent>;

export interface GuestAgentOptions {
  /** Below it are the agent's folders. On Windows: disk C. */
  readonly root: string;
  readonly run: Run;
  readonly isWindows?: boolean;
}

export function createGuestAgent({ root, run, isWindows = false }: GuestAgentOptions) {
  const layout = isWindows ? windows : linux;
  const library = join(root, layout.library);
  const logFolderOf = (version: string): string => join(root, layout.logs(version));
  mkdirSync(library, { recursive: true, mode: 0o700 });
  const known = new Set<string>();
  const calls: { readonly verb: Verb; readonly version: string; readonly code: number }[] = [];
  let number = -1;
  let last: Ended = { code: 0, stdout: '', stderr: '' };

  const folderOf = (version: string): string => join(library, layout.handler(version));
  const configOf = (version: string): string => join(folderOf(version), layout.config);
  const stateFile = (version: string): string => join(configOf(version), 'HandlerState');
  const stateOf = (version: string): State =>
    existsSync(stateFile(version)) ? (readFileSync(stateFile(version), 'utf8') as State) : 'NotInstalled';
  const setState = (version: string, state: State): void => writeFileSync(stateFile(version), state);
  const versions = (): string[] =>
    [...known].filter((version) => stateOf(version) !== 'NotInstalled' && stateOf(version) !== 'FailedUpgrade');

  /** Python's zipfile drops all rights; the agent gives root the right to execute, for every file. */
  function unpack(version: string, zip: Buffer): void {
    const folder = folderOf(version);
    for (const [path, content] of readZip(zip)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { mode: 0o644 });
      chmodSync(join(folder, path), 0o744);
    }
    for (const one of [layout.config, 'status', 'events'])
      mkdirSync(join(folder, one), { recursive: true, mode: 0o700 });
    const logFolder = logFolderOf(version);
    const events = join(logFolder, layout.events);
    mkdirSync(events, { recursive: true });
    const seen = (path: string): string => layout.seen(root, path);
    const handlerEnvironment = {
      logFolder: seen(logFolder),
      configFolder: seen(configOf(version)),
      statusFolder: seen(join(folder, 'status')),
      heartbeatFile: seen(join(folder, layout.heartbeat)),
      eventsFolder: seen(events),
      ...(isWindows ? {} : { eventsFolder_preview: seen(events) }),
      ...layout.more,
    };
    writeFileSync(
      join(folder, 'HandlerEnvironment.json'),
      JSON.stringify([{ name, version: 1.0, handlerEnvironment }]),
    );
    known.add(version);
    if (!existsSync(stateFile(version))) setState(version, 'NotInstalled');
  }

  function writeSettings(version: string, settings: Settings): void {
    const text =
      settings === undefined ? '' : JSON.stringify({ runtimeSettings: [{ handlerSettings: settings }] }, null, 2);
    writeFileSync(join(configOf(version), `${number}.settings`), text);
  }

  async function command(verb: Verb, version: string, more: Readonly<Record<string, string>> = {}): Promise<number> {
    const folder = folderOf(version);
    const manifest = JSON.parse(readFileSync(join(folder, 'HandlerManifest.json'), 'utf8').replace(/^\uFEFF/, ''));
    last = await run({
      line: String(manifest[0].handlerManifest[`${verb}Command`]).replace(/^\//, ''),
      folder: layout.seen(root, folder),
      timeoutMs: timeouts[verb],
      env: { ...layout.env(folder, version), ConfigSequenceNumber: `${number}`, ...(isWindows ? {} : more) },
    });
    calls.push({ verb, version, code: last.code });
    for (const one of readdirSync(join(folder, 'status')).filter((entry) => entry.endsWith('.status'))) {
      const faults = faultsOfStatus(readFileSync(join(folder, 'status', one), 'utf8'));
      if (faults.length > 0) throw new Error(`The status ${one} after ${verb}: ${faults.join('; ')}.`);
    }
    return last.code;
  }

  const failed = (code: number): Reported => {
    const { stdout, stderr } = last;
    const text = `[ExtensionOperationError] Non-zero exit code: ${last.code}\n[stdout]\n${stdout.slice(0, 3_200)}\n[stderr]\n${stderr.slice(0, 3_200)}`;
    return { code, message: text.slice(0, 3_200) };
  };
  const ready: Reported = { code: 0, message: 'Ready' };

  async function installAndEnable(version: string, uninstallCode: string): Promise<Reported> {
    const more = { AZURE_GUEST_AGENT_UNINSTALL_CMD_EXIT_CODE: uninstallCode };
    if (stateOf(version) === 'NotInstalled' || stateOf(version) === 'FailedUpgrade') {
      if ((await command('install', version, more)) !== 0) return failed(1007);
      setState(version, 'Installed');
    }
    if ((await command('enable', version, more)) !== 0) return failed(1009);
    setState(version, 'Enabled');
    return ready;
  }

  /** From an old version to another one: the order of WALinuxAgent's `handle_enable`. */
  async function update(from: string, to: string): Promise<Reported> {
    if (stateOf(from) === 'Enabled') {
      if ((await command('disable', from)) !== 0) return failed(1010);
      setState(from, 'Installed');
    }
    for (const entry of readdirSync(join(folderOf(from), 'status')))
      copyFileSync(join(folderOf(from), 'status', entry), join(folderOf(to), 'status', entry));
    if (existsSync(join(folderOf(from), 'mrseq')))
      copyFileSync(join(folderOf(from), 'mrseq'), join(folderOf(to), 'mrseq'));
    const isDowngrade = compare(to, from) < 0;
    const more = {
      VERSION: to,
      AZURE_GUEST_AGENT_UPDATING_FROM_VERSION: isDowngrade ? to : from,
      AZURE_GUEST_AGENT_DISABLE_CMD_EXIT_CODE: '0',
    };
    if ((await command('update', isDowngrade ? from : to, more)) !== 0) {
      setState(to, 'FailedUpgrade');
      return failed(1008);
    }
    const uninstalled = await command('uninstall', from);
    rmSync(folderOf(from), { recursive: true });
    return installAndEnable(to, `${uninstalled}`);
  }

  return {
    library,
    calls,
    folderOf,
    /** The verbs since the last time, with the version of each. */
    takeCalls: () => calls.splice(0).map(({ verb, version }) => `${verb} ${version}`),
    /** A goal state: this version with these settings. `as`: their sequence number, by default the next. */
    async apply(version: string, zip: Buffer, settings: Settings, as = number + 1): Promise<Reported> {
      number = as;
      const old = versions()
        .filter((one) => one !== version)
        .toSorted(compare)
        .at(-1);
      if (stateOf(version) === 'NotInstalled' || stateOf(version) === 'FailedUpgrade') unpack(version, zip);
      writeSettings(version, settings);
      if (old !== undefined) return update(old, version);
      return installAndEnable(version, 'NOT_RUN');
    },
    /** The same goal state once more, as after the agent was stopped in the middle of it. */
    async again(version: string): Promise<Reported> {
      const old = versions()
        .filter((one) => one !== version)
        .toSorted(compare)
        .at(-1);
      return old === undefined ? installAndEnable(version, 'NOT_RUN') : update(old, version);
    },
    /** The agent starts again, as at each boot. */
    restart: (version: string): Promise<Reported> => installAndEnable(version, 'NOT_RUN'),
    /** The extension is deleted. */
    async remove(version: string): Promise<Reported> {
      if (stateOf(version) === 'Enabled') {
        if ((await command('disable', version)) !== 0) return failed(1010);
        setState(version, 'Installed');
      }
      await command('uninstall', version);
      rmSync(folderOf(version), { recursive: true });
      return ready;
    },
    /** The extension is deleted: the agent knows the version that is installed last, and ignores those that are not. */
    async removeAll(): Promise<Reported> {
      const installed = versions().toSorted(compare).at(-1);
      return installed === undefined ? ready : this.remove(installed);
    },
    /** Of the newest settings. */
    number: () => number,
    last: () => last,
    statusFile: (version: string, of = number) => join(folderOf(version), 'status', `${of}.status`),
    status(version: string, of = number): StatusFile['status'] {
      const [entry] = JSON.parse(readFileSync(join(folderOf(version), 'status', `${of}.status`), 'utf8'));
      return (entry as StatusFile).status;
    },
    statusMs: (version: string, of = number): number =>
      statSync(join(folderOf(version), 'status', `${of}.status`), { bigint: false }).mtimeMs,
    log: (version = ''): string => readFileSync(join(logFolderOf(version), 'handler.log'), 'utf8'),
  };
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (const [n, part] of (left ?? []).entries()) if (part !== (right?.[n] ?? 0)) return part - (right?.[n] ?? 0);
  return 0;
}
