import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Ended } from '../../../src/service/program.ts';

/** How the service of a version, or with a configuration, behaves. */
export const behaviours = ['dies-when-up', 'dies', 'hangs', 'is-deaf', 'exits-78', 'cannot-start'] as const;
export type Behaviour = (typeof behaviours)[number] | 'becomes-ready';

/** What the service control manager knows of the service. */
interface Service {
  image: string;
  start: string;
  account: string;
  description: string;
  failure: string;
  sidType: string;
}

/** https://learn.microsoft.com/windows/win32/debug/system-error-codes */
const errors = { accessDenied: 5, notStarted: 1062, missing: 1060, exists: 1073 } as const;
const hostPid = 4000;
const sid = 'S-1-5-80-4027410533-1092970159-1799280583-2625524982-4048887831';

/**
 * Programs of Windows that the installer starts, for a machine in a folder: sc.exe, reg.exe, icacls.exe and the service host. The program
 * and the configuration of the service decide how it behaves. Permissions are the mode of a file, which follows it when it is renamed. The
 * real service control manager is Wine's, in test/wine/installer.test.ts.
 */
export function createStandIns({ data }: { readonly data: string }) {
  const calls: string[] = [];
  const registered: string[] = [];
  let service: Service | null = null;
  let isElevated = true;
  let isHostBlocked = false;
  /** The folder that Windows has made for the account. */
  let profile: string | null = null;
  /** A folder of an ordinary user, and the verb of icacls.exe before which he creates it. */
  let foreign: { readonly path: string; readonly verb: string | null } | null = null;
  let invocations = 0;
  /** The process of the service; null while none runs. */
  let running: { behaviour: Behaviour; restarts: number; version: string } | null = null;
  /** It takes some polls to stop. */
  let stopping = 0;
  let ended = { win32: 0, service: 0 };

  function report(active: string, sub: string, pid: number, exitStatus: number): void {
    mkdirSync(join(data, 'logs'), { recursive: true });
    const fields = {
      ...{
        ActiveState: active,
        SubState: sub,
        MainPID: pid,
        ExecMainStatus: exitStatus,
        InvocationID: `i${invocations}`,
      },
      ...{ NRestarts: running?.restarts ?? 0, StatusText: 'Polling; no open events.', Result: 'success' },
      HostPID: hostPid,
    };
    const lines = Object.entries(fields).map((pair) => `${pair.join('=')}\n`);
    writeFileSync(join(data, 'logs', 'service.state'), lines.join(''));
  }

  function start({ image }: Service): number {
    const folder = dirname(image.replaceAll('"', ''));
    const program = readFileSync(join(folder, 'scheduled-events-bridge.cjs'), 'utf8');
    const texts = program + readFileSync(join(data, 'config.json'), 'utf8');
    const behaviour = behaviours.find((one) => texts.includes(one)) ?? 'becomes-ready';
    invocations += 1;
    ended = { win32: 0, service: 0 };
    rmSync(join(data, 'state', 'held'), { force: true });
    if (behaviour === 'cannot-start') return errors.accessDenied;
    if (behaviour === 'exits-78') {
      ended = { win32: 1066, service: 78 };
      return 0;
    }
    running = { behaviour, restarts: 0, version: /^version (.*)$/m.exec(program)?.[1] ?? '' };
    if (behaviour === 'becomes-ready') writeFileSync(join(data, 'state', 'held'), '');
    if (behaviour === 'hangs') report('activating', 'start', 4712, 0);
    else if (behaviour === 'dies') report('activating', 'auto-restart', 0, 1);
    else report('active', 'running', 4711, 0);
    return 0;
  }

  /** What happens between two polls. */
  function pass(): void {
    if (stopping > 0) {
      stopping -= 1;
      if (stopping > 0) return;
      running = null;
      rmSync(join(data, 'state', 'held'), { force: true });
    } else if (running?.behaviour === 'dies' || running?.behaviour === 'dies-when-up') {
      running.restarts += 1;
      if (running.behaviour === 'dies') report('activating', 'auto-restart', 0, 1);
      else report('active', 'running', 4711 + running.restarts, 1);
    }
  }

  function sc([verb = '', , ...rest]: readonly string[]): number {
    const value = (name: string): string | null => rest[rest.indexOf(name) + 1 || rest.length] ?? null;
    if (verb === 'create') {
      if (service !== null) return errors.exists;
      const [image, start, account] = ['binPath=', 'start=', 'obj='].map((name) => value(name) ?? '');
      service = {
        image: image ?? '',
        start: start ?? '',
        account: account ?? '',
        description: '',
        failure: '',
        sidType: '',
      };
      return 0;
    }
    if (service === null) return errors.missing;
    switch (verb) {
      case 'config':
        service.image = value('binPath=') ?? service.image;
        service.start = value('start=') ?? service.start;
        service.account = value('obj=') ?? service.account;
        return 0;
      case 'description':
        service.description = rest.join(' ');
        return 0;
      case 'failure':
        service.failure = rest.join(' ');
        return 0;
      case 'sidtype':
        service.sidType = rest.join(' ');
        return 0;
      case 'delete':
        service = null;
        return 0;
      case 'stop':
        if (running === null) return errors.notStarted;
        stopping = 4;
        return 0;
      case 'start':
        return start(service);
    }
    throw new Error(`the stand-in of sc.exe knows no ${verb}`);
  }

  function query(): string {
    if (service === null) return 'State=missing\n';
    pass();
    const state = stopping > 0 ? 'stop-pending' : running === null ? 'stopped' : 'running';
    const startType = { auto: 'automatic', disabled: 'disabled' }[service.start] ?? 'manual';
    const fields = {
      ...{ State: state, ProcessId: running === null ? 0 : hostPid, Win32ExitCode: ended.win32 },
      ...{ ServiceExitCode: ended.service, StartType: startType, Account: service.account, ImagePath: service.image },
    };
    return Object.entries(fields)
      .map((pair) => `${pair.join('=')}\r\n`)
      .join('');
  }

  function reg([verb = '', ...rest]: readonly string[]): number {
    if (rest[0]?.includes('ProfileList')) {
      if (profile === null) return 1;
      if (verb === 'delete') profile = null;
      return 0;
    }
    if (verb === 'add') registered.push(rest.join(' '));
    else if (registered.length === 0) return 1;
    else if (verb === 'delete') registered.length = 0;
    return 0;
  }

  function icacls([path = '', verb = '', ...rest]: readonly string[]): number {
    if (verb === foreign?.verb) mkdirSync(foreign.path, { recursive: true });
    if (verb === '/reset') {
      for (const one of ['', ...readdirSync(path, { recursive: true, encoding: 'utf8' })]) {
        const file = join(path, one);
        chmodSync(file, statSync(file).isDirectory() ? 0o755 : 0o644);
      }
    }
    if (verb === '/inheritance:r') {
      const all = rest.join(' ');
      chmodSync(path, all.includes(':(R)') ? 0o640 : all.includes(':(RX)') ? 0o750 : 0o700);
    }
    return 0;
  }

  function host([verb = '', path = '']: readonly string[]): Pick<Ended, 'code' | 'out'> {
    if (verb === '--is-elevated') return { code: isElevated ? 0 : 1, out: '' };
    if (verb === '--is-trusted') return { code: path === foreign?.path && existsSync(path) ? 1 : 0, out: '' };
    if (verb === '--permissions') return { code: 0, out: permissionsOf(path) };
    return { code: 0, out: verb === '--query' ? query() : '' };
  }

  function permissionsOf(path: string): string {
    const isOwn = [0o640, 0o750].includes(statSync(path).mode & 0o777);
    return isOwn
      ? `D:PAI(A;;FR;;;${sid})(A;;FA;;;SY)(A;;FA;;;BA)\r\n`
      : 'D:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)\r\n';
  }

  const programs = {
    sc: (args: readonly string[]) => ({ code: sc(args), out: '' }),
    reg: (args: readonly string[]) => {
      const out = `    ProfileImagePath    REG_EXPAND_SZ    ${profile}\r\n`;
      return { code: reg(args), out };
    },
    icacls: (args: readonly string[]) => ({ code: icacls(args), out: '' }),
    host,
    /** That of an installed version. */
    'scheduled-events-bridge-service.exe': host,
  } as const;

  return {
    async run(path: string, args: readonly string[]): Promise<Ended> {
      const name = basename(path) as keyof typeof programs;
      const reads = ['--query', '--is-elevated', '--is-trusted', '--permissions'].includes(args[0] ?? '');
      if (!reads) calls.push([name, ...args].join(' '));
      if (name === 'host' && isHostBlocked) return { code: null, failed: 'UNKNOWN', out: '', err: '' };
      if (!existsSync(dirname(data))) throw new Error(`${dirname(data)} is gone`);
      return { failed: null, err: '', ...programs[name](args) };
    },
    calls,
    registered,
    service: () => service,
    running: () => running,
    profile: () => profile,
    setProfile: (folder: string) => {
      profile = folder;
    },
    setForeign: (path: string, verb: string | null = null) => {
      foreign = { path, verb };
    },
    setElevated: (value: boolean) => {
      isElevated = value;
    },
    /** Windows does not start the service host of the package that is run. */
    blockHost: () => {
      isHostBlocked = true;
    },
    /** As an administrator does it in services.msc. */
    setStart: (value: string) => {
      if (service !== null) service.start = value;
    },
  };
}
