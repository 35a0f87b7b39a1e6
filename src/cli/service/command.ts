import type { Command } from 'commander';
import type { Order } from '../../service/install.ts';
import type { Machine } from '../../service/machine.ts';
import { type CommandContext, describeVerb, type Verb } from '../command-context.ts';
import { type ExitReason, Failure } from '../exit-codes.ts';
import { orFail } from './refused.ts';

const reasons: readonly ExitReason[] = ['notDone', 'unsupported', 'missing', 'badConfiguration', 'busy'];

type OpenMachine = (commandContext: CommandContext) => Promise<Machine>;

/** `service`: the bridge as a service of this machine. */
export const addService: Verb = (program, commandContext) =>
  addServiceOf(async (around) => (await import('./machine.ts')).thisMachine(around))(program, commandContext);

/** The same on another machine than this one. */
export const addServiceOf =
  (open: OpenMachine): Verb =>
  (program, commandContext) => {
    const service = program
      .command('service')
      .description('install the bridge as a service of this machine; update, configure, show and remove it')
      .helpCommand(false);
    describeVerb(service, ...reasons, 'unreachable', 'actionRequired', 'notInstalled');
    const machine = (): Promise<Machine> => open(commandContext);
    for (const add of [addInstall, addUpdate, addConfigure, addEnable, addDisable, addUninstall, addStatus]) {
      add(service, machine, commandContext);
    }
  };

type Sub = (service: Command, machine: () => Promise<Machine>, commandContext: CommandContext) => void;

const interruptNotice =
  'Continuing to the end, since half an installation is unusable. Interrupt again to stop at once; the same command resumes it later.';

/** Runs it; the first interrupt prints what a second one would do. */
async function toItsEnd<T>(machine: Machine, { stop }: CommandContext, work: () => Promise<T>): Promise<T> {
  const explain = (): void => machine.say(interruptNotice);
  stop.addEventListener('abort', explain, { once: true });
  try {
    return await orFail(work);
  } finally {
    stop.removeEventListener('abort', explain);
  }
}

const addSub = (service: Command, name: string, description: string, ...more: readonly ExitReason[]): Command =>
  describeVerb(service.command(name).description(description), ...reasons, ...more);

const from = ['--from <folder>', 'the folder with the unpacked package (required)'] as const;
const config = [
  '-c, --config <file>',
  'the configuration file; it is validated and copied to where the service reads it',
] as const;

const key = [
  '--key <file>',
  'verify that the package is signed with the private key of this public key, and refuse it otherwise; run the installed program for this, not the one in the package',
] as const;

const noStart = ['--no-start', 'do not start the service now, only at boot: for building an image'] as const;

interface Given {
  readonly from: string;
  readonly key?: string;
  readonly config?: string;
  readonly start: boolean;
}

/** A verb that takes a package. `isInstallation`: it may be the first. */
const addTaking =
  (name: string, description: string, enable: Order['enable'], isInstallation: boolean): Sub =>
  (service, machine, commandContext) => {
    addSub(service, name, description, 'unreachable')
      .requiredOption(...from)
      .option(...key)
      .option(...config)
      .option(...noStart)
      .action(async ({ from: folder, key: keyFile, config: file, start }: Given) => {
        const order = { from: folder, key: keyFile ?? null, configuration: file ?? null, start, enable };
        await bring(commandContext, await machine(), order, isInstallation);
      });
  };

const addInstall = addTaking(
  'install',
  'install a package, or update to it; starts the service, now and at every boot',
  'always',
  true,
);

const addUpdate = addTaking(
  'update',
  'update to the version of a package; rolls back if it does not become ready',
  'as-it-is',
  false,
);

const asInstalled = { from: null, key: null, configuration: null, start: true } as const;

const addConfigure: Sub = (service, machine, commandContext) => {
  addSub(
    service,
    'configure',
    'change the configuration; rolls back if the service does not become ready with it',
    'unreachable',
  )
    .requiredOption(...config)
    .action(async ({ config: file }: { config: string }) => {
      await bring(commandContext, await machine(), { ...asInstalled, configuration: file, enable: 'as-it-is' });
    });
};

const addEnable: Sub = (service, machine, commandContext) => {
  addSub(service, 'enable', 'start the service, now and at every boot', 'unreachable').action(async () => {
    await bring(commandContext, await machine(), { ...asInstalled, enable: 'always' });
  });
};

/** Does it and says what became of it; where it may be the first time, also what is different from now on. */
async function bring(
  commandContext: CommandContext,
  machine: Machine,
  order: Order,
  isInstallation = false,
): Promise<void> {
  const { install } = await import('../../service/install.ts');
  const { beginningSentences, doneSentences, unreachedSentence } = await import('../../service/sentences.ts');
  const done = await toItsEnd(machine, commandContext, () => install(machine, order));
  const beginning = isInstallation || !done.wasThere ? beginningSentences(done, machine.system) : [];
  for (const sentence of [...doneSentences(done, machine.system), ...beginning]) machine.say(sentence);
  if (done.unreached !== null) throw new Failure('unreachable', unreachedSentence(done.unreached, machine.system));
}

const addDisable: Sub = (service, machine, commandContext) => {
  addSub(service, 'disable', 'stop the service, and do not start it at boot').action(async () => {
    const { disable } = await import('../../service/disable.ts');
    const here = await machine();
    await toItsEnd(here, commandContext, () => disable(here));
    here.say('The service is stopped and does not start at boot. No events are observed until it is enabled again.');
  });
};

interface Kept {
  readonly keepState?: boolean;
  readonly keepConfiguration?: boolean;
}

const addUninstall: Sub = (service, machine, commandContext) => {
  addSub(
    service,
    'uninstall',
    'stop the service and remove everything, including state and configuration unless they are kept',
  )
    .option('--keep-state', 'keep the state directory, with undelivered records, and the account that owns it')
    .option('--keep-configuration', 'keep the configuration, and the account that reads it')
    .action(async ({ keepState = false, keepConfiguration = false }: Kept) => {
      const { uninstall } = await import('../../service/uninstall.ts');
      const { uninstalledSentences } = await import('../../service/sentences.ts');
      const here = await machine();
      const gone = await toItsEnd(here, commandContext, () => uninstall(here, { keepState, keepConfiguration }));
      for (const sentence of uninstalledSentences(gone, here.system, here.clock.now())) here.say(sentence);
    });
};

const addStatus: Sub = (service, machine, { print }) => {
  addSub(
    service,
    'status',
    'show what is installed and whether it runs; "status" shows the health of the bridge',
    'actionRequired',
    'notInstalled',
  )
    .option('--json', 'print everything as one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const { serviceStatus } = await import('../../service/status.ts');
      const { servicePage } = await import('./page.ts');
      const here = await machine();
      const status = await orFail(() => serviceStatus(here));
      print(json ? `${JSON.stringify(status, null, 2)}\n` : servicePage(status, here.system.words));
      const isDown = status.enabled && status.service?.active !== 'active';
      if (!status.installed) throw new Failure('notInstalled', '');
      if (isDown || status.refused !== null) throw new Failure('actionRequired', '');
    });
};
