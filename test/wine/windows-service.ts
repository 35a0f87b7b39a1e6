import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serviceHost } from '../../infra/package/service-host.ts';
import { until } from '../support/until.ts';
import { nodeProgram, type WindowsMachine } from './windows-machine.ts';

const name = 'scheduled-events-bridge';
const program = 'C:\\Program Files\\scheduled-events-bridge';
const host = `${program}\\scheduled-events-bridge-service.exe`;
export const dataFolder = 'C:\\ProgramData\\scheduled-events-bridge';
const serviceKey = `HKLM\\System\\CurrentControlSet\\Services\\${name}`;

/** `Name=value` lines. */
export type Fields = Readonly<Record<string, string>>;

/** The service host on a machine, with a program that takes the place of the bridge. */
export interface WindowsService {
  /** The path of the host. */
  readonly program: string;
  /** Runs the host as a command. */
  host(...args: readonly string[]): ReturnType<WindowsMachine['run']>;
  /** Runs `--console` to its end, with these variables. */
  console(env: Readonly<Record<string, string>>): ReturnType<WindowsMachine['run']>;
  start(): Promise<void>;
  /** Asks the service control manager for a stop. Returns at once. */
  stop(): Promise<void>;
  /** What the service control manager says, by the host's `--query`. */
  query(): Promise<Fields>;
  /** The state file; empty before it is there. */
  state(): Fields;
  untilState(expected: Fields, timeoutMs?: number): Promise<Fields>;
  untilStopped(): Promise<Fields>;
  /** The lines of `bridge.log`, and of older files by their number. */
  log(number?: number): readonly string[];
  /** What the host itself said in the log. */
  said(): readonly string[];
  logFiles(): readonly string[];
}

export interface ServiceOptions {
  /** The bridge: a file of this system, or a script. */
  readonly bridge: { readonly file: string } | { readonly script: string };
  /** Values of the Parameters key. */
  readonly parameters?: Readonly<Record<string, number>>;
}

/** What a script of a test begins with. */
export const prelude = `
  const { connect } = require('node:net');
  const say = (...words) => connect(process.env.NOTIFY_SOCKET, function () { this.end(words.join('\\n') + '\\n'); }).on('error', () => {});
  const onStop = (handle) => process.stdin.on('end', handle).resume();
`;
/** A bridge in good health. */
export const healthy = `${prelude}
  say('READY=1', 'STATUS=Polling.');
  setInterval(() => say('WATCHDOG=1'), 500);
  onStop(() => process.exit(0));
`;

/** Empty while there is no such file, as in the middle of a rotation. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/** Creates the service, and does not start it. */
export async function createService(
  machine: WindowsMachine,
  { bridge, parameters = {} }: ServiceOptions,
): Promise<WindowsService> {
  const built = await serviceHost();
  if ('whyNot' in built) throw new Error(built.whyNot);
  machine.place(await nodeProgram(), `${program}\\node.exe`);
  writeFileSync(machine.file(host), built.program);
  const script = `${program}\\scheduled-events-bridge.cjs`;
  if ('file' in bridge) machine.place(bridge.file, script);
  else writeFileSync(machine.file(script), bridge.script);
  mkdirSync(machine.file(dataFolder), { recursive: true });
  await machine.ok('sc', ['create', name, 'binPath=', `"${host}"`, 'start=', 'demand']);
  for (const [value, number] of Object.entries(parameters)) {
    await machine.ok('reg', ['add', `${serviceKey}\\Parameters`, '/v', value, '/t', 'REG_DWORD', '/d', `${number}`]);
  }

  const logs = machine.file(`${dataFolder}\\logs`);
  const fieldsOf = (text: string): Fields =>
    Object.fromEntries(
      text
        .split(/\r?\n/)
        .filter((line) => line.includes('='))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
  const state = (): Fields => fieldsOf(textOf(join(logs, 'service.state')));
  const log = (number?: number): readonly string[] =>
    textOf(join(logs, number === undefined ? 'bridge.log' : `bridge.${number}.log`))
      .split('\n')
      .slice(0, -1);
  const query = async (): Promise<Fields> => fieldsOf(await machine.ok(host, ['--query']));

  return {
    program: host,
    host: (...args) => machine.run(host, args),
    console: (env) => machine.run(host, ['--console'], { env }),
    start: async () => void (await machine.ok('sc', ['start', name])),
    stop: async () => void (await machine.ok('sc', ['stop', name])),
    query,
    state,
    async untilState(expected, timeoutMs = 30_000) {
      const what = (): string =>
        `${JSON.stringify(expected)}, but it is ${JSON.stringify(state())}: ${log().join('\n')}`;
      const matches = (): boolean => {
        const now = state();
        return Object.entries(expected).every(([field, value]) => now[field] === value);
      };
      try {
        await until(matches, { timeoutMs });
      } catch {
        throw new Error(`waited for ${what()}`);
      }
      return state();
    },
    untilStopped: () =>
      until(
        async () => {
          const found = await query();
          return found.State === 'stopped' ? found : null;
        },
        { what: 'the end of the service', everyMs: 200, timeoutMs: 60_000 },
      ),
    log,
    said: () =>
      log()
        .filter((line) => line.includes('"Service host: '))
        .map((line) => String(JSON.parse(line).msg).replace('Service host: ', '')),
    logFiles: () => readdirSync(logs).filter((file) => file.endsWith('.log')),
  };
}
