import type { Command } from 'commander';
import type { Order } from '../../service/install.ts';
import type { Machine } from '../../service/machine.ts';
import { type ExitReason, Failure } from '../exit-codes.ts';
import { describeVerb, type Surroundings, type Verb } from '../surroundings.ts';
import { orFail } from './refused.ts';

const reasons: readonly ExitReason[] = ['notDone', 'unsupported', 'missing', 'badConfiguration', 'busy'];

type OpenMachine = (surroundings: Surroundings) => Promise<Machine>;

/** `service`: the bridge as a service of this machine. */
export const addService: Verb = (program, surroundings) =>
  addServiceOf(async (around) => (await import('./machine.ts')).thisMachine(around))(program, surroundings);

/** The same on another machine than this one. */
export const addServiceOf =
  (open: OpenMachine): Verb =>
  (program, surroundings) => {
    const service = program
      .command('service')
      .description('install the bridge as a service of this machine, update, configure, look at and remove it')
      .helpCommand(false);
    describeVerb(service, ...reasons, 'needsPerson');
    const machine = (): Promise<Machine> => open(surroundings);
    for (const add of [addInstall, addUpdate, addConfigure, addEnable, addDisable, addUninstall, addStatus]) {
      add(service, machine, surroundings);
    }
  };

type Sub = (service: Command, machine: () => Promise<Machine>, surroundings: Surroundings) => void;

const addSub = (service: Command, name: string, description: string, ...more: readonly ExitReason[]): Command =>
  describeVerb(service.command(name).description(description), ...reasons, ...more);

const from = ['--from <folder>', 'the folder that the package unpacks to'] as const;
const config = [
  '-c, --config <file>',
  'the configuration: validated, and copied to where the service reads it',
] as const;

const noStart = ['--no-start', 'start nothing: for an image, where the service starts with the machine'] as const;

interface Given {
  readonly from: string;
  readonly config?: string;
  readonly start: boolean;
}

const addInstall: Sub = (service, machine) => {
  addSub(
    service,
    'install',
    'install a package, or update to it; the service runs from now on and with every start of the machine',
  )
    .requiredOption(...from)
    .option(...config)
    .option(...noStart)
    .action(async ({ from: folder, config: file, start }: Given) => {
      await bring(await machine(), { from: folder, configuration: file ?? null, enable: 'always', start }, true);
    });
};

const addUpdate: Sub = (service, machine) => {
  addSub(
    service,
    'update',
    'update to the version of a package, and go back by itself where that does not become ready',
  )
    .requiredOption(...from)
    .option(...config)
    .option(...noStart)
    .action(async ({ from: folder, config: file, start }: Given) => {
      await bring(await machine(), { from: folder, configuration: file ?? null, enable: 'as-it-is', start });
    });
};

const addConfigure: Sub = (service, machine) => {
  addSub(
    service,
    'configure',
    'change the configuration, and go back by itself where the service does not become ready with it',
  )
    .requiredOption(...config)
    .action(async ({ config: file }: { config: string }) => {
      await bring(await machine(), { from: null, configuration: file, enable: 'as-it-is', start: true });
    });
};

const addEnable: Sub = (service, machine) => {
  addSub(service, 'enable', 'start the service, now and with every start of the machine').action(async () => {
    await bring(await machine(), { from: null, configuration: null, enable: 'always', start: true });
  });
};

/** Does it and says what became of it; where it may be the first time, also what is different from now on. */
async function bring(machine: Machine, order: Order, isInstallation = false): Promise<void> {
  const { install } = await import('../../service/install.ts');
  const { beginningSentences, doneSentences } = await import('./sentences.ts');
  const done = await orFail(() => install(machine, order));
  const beginning = isInstallation || !done.wasThere ? beginningSentences(done) : [];
  for (const sentence of [...doneSentences(done, machine.places), ...beginning]) machine.say(sentence);
}

const addDisable: Sub = (service, machine) => {
  addSub(service, 'disable', 'stop the service, and do not start it with the machine').action(async () => {
    const { disable } = await import('../../service/disable.ts');
    const here = await machine();
    await orFail(() => disable(here));
    here.say('The service is stopped and does not start with the machine. Nothing that happens now will be known.');
  });
};

const addUninstall: Sub = (service, machine) => {
  addSub(service, 'uninstall', 'stop the service and remove everything; its state too, unless asked to keep it')
    .option('--keep-state', 'keep the state, with what was not delivered, and the account that it belongs to')
    .action(async ({ keepState = false }: { keepState?: boolean }) => {
      const { uninstall } = await import('../../service/uninstall.ts');
      const { uninstalledSentences } = await import('./sentences.ts');
      const here = await machine();
      const gone = await orFail(() => uninstall(here, { keepState }));
      for (const sentence of uninstalledSentences(gone, here.places, here.clock.now())) here.say(sentence);
    });
};

const addStatus: Sub = (service, machine, { print }) => {
  addSub(
    service,
    'status',
    'tell what is installed and whether it runs; the bridge itself is told of by "status"',
    'needsPerson',
  )
    .option('--json', 'print everything as one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const { serviceStatus } = await import('../../service/status.ts');
      const { servicePage } = await import('./page.ts');
      const here = await machine();
      const status = await orFail(() => serviceStatus(here));
      print(json ? `${JSON.stringify(status, null, 2)}\n` : servicePage(status));
      if (status.installed && status.enabled && status.service?.active !== 'active')
        throw new Failure('needsPerson', '');
    });
};
