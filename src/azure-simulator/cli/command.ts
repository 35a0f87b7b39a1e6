import { isIP } from 'node:net';
import { InvalidArgumentError, Option } from 'commander';
import { describeVerb, type Verb } from '../../cli/command-context.ts';
import { Failure } from '../../cli/exit-codes.ts';
import { formatFor } from '../../process/text-format.ts';
import { canFreeze } from './freeze-process.ts';
import type { SimulateOptions } from './simulate.ts';

/** `simulate`: a local Azure for bridges and other clients. */
export const addSimulate: Verb = (program, commandContext) => {
  const command = program
    .command('simulate')
    .description('run a local Azure: instance metadata, Event Hubs and Logs Ingestion, until stopped')
    .argument('[scenario]', 'scenario to play, from two seconds after the first poll on (default: none); see --list');
  for (const option of options) command.addOption(option);
  describeVerb(command, 'notDone').action(async (scenario: string | undefined, options: SimulateOptions) => {
    refuseUnfit(scenario, options);
    if (options.list) {
      const { listScenarios, scenariosJson } = await import('./list.ts');
      commandContext.print(
        options.json ? scenariosJson() : listScenarios(formatFor(process.stdout, commandContext.env).width),
      );
    } else {
      const { simulate } = await import('./simulate.ts');
      await simulate(scenario, options, commandContext);
    }
  });
};

const ofASimulator = ['speed', 'vm', 'vms', 'host', 'port', 'repeat', 'freeze', 'writeConfig'];

/** And the next five. After 169.254, the network of the metadata service. */
const defaultPort = 16_925;

const options: readonly Option[] = [
  new Option('--list', 'list the scenarios').conflicts(['replay', ...ofASimulator]),
  new Option('--speed <factor>', 'speed of the scenario; 1: real time (default: see --list)').argParser(
    numberFrom(0.1, 100_000, 'a number from 0.1 to 100000'),
  ),
  new Option('--vm <name>', 'name of the VM (default: web_0)').conflicts('vms'),
  new Option('--vms <count>', 'number of VMs of one placement group: web_0, web_1 …').argParser(wholeNumber(1, 10_000)),
  new Option('--repeat', 'repeat the scenario'),
  new Option(
    '--write-config <directory>',
    'write a bridge configuration, variables for other clients and the certificate there; the same at every start',
  ),
  new Option('--port <number>', 'listen on this port and the next five; 0: on free ports')
    .default(defaultPort)
    .argParser(wholeNumber(0, 65_530)),
  new Option(
    '--host <name>',
    'listen on this name or address, for clients on other machines; no authentication (default: loopback)',
  ).argParser(hostName),
  new Option('--json', 'print only the addresses, as one line of JSON when ready; with --list, the list'),
  new Option('--freeze <pid>', 'stop this process while a scenario freezes the first VM').argParser(
    wholeNumber(1, 2 ** 31 - 1),
  ),
  new Option(
    '--replay <file>',
    'replay a recording of scheduled-events-bridge record, from the first poll (default speed: 1)',
  ).conflicts(['vms', 'repeat', 'freeze']),
  new Option('--record <file>').hideHelp(),
];

/** Rules that commander cannot express. */
function refuseUnfit(scenario: string | undefined, { list, record, replay, repeat, freeze }: SimulateOptions): void {
  const other = list ? '--list' : replay !== undefined ? '--replay' : undefined;
  const refuse = (sentence: string): never => {
    throw new Failure('usage', sentence);
  };
  if (scenario !== undefined && other)
    refuse(`A scenario cannot be used with ${other}: leave out "${scenario}" or ${other}.`);
  if (record !== undefined) refuse(`simulate does not record: use scheduled-events-bridge record ${record}.`);
  if (repeat && scenario === undefined) refuse('--repeat needs a scenario; see simulate --list.');
  if (freeze !== undefined && !canFreeze) {
    refuse('--freeze needs SIGSTOP, which Windows lacks: leave it out, or use Linux or macOS.');
  }
}

function numberFrom(least: number, most: number, expected: string, fits = (_: number) => true) {
  return (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (!(value >= least && value <= most && fits(value))) throw new InvalidArgumentError(`expected ${expected}.`);
    return value;
  };
}

function wholeNumber(least: number, most: number) {
  return numberFrom(least, most, `a whole number from ${least} to ${most}`, Number.isInteger);
}

function hostName(text: string): string {
  if (['0.0.0.0', '::'].includes(text)) {
    throw new InvalidArgumentError('expected the one name or address by which clients reach this machine.');
  }
  if (isIP(text) || /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(text)) return text;
  throw new InvalidArgumentError('expected a host name or an IP address, without a port.');
}
