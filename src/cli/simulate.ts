import { InvalidArgumentError } from 'commander';
import type { AzureSimulator } from '../azure-simulator/index.ts';
import { findScenario, type Scenario, scenarios } from '../azure-simulator/scenarios.ts';
import { closest } from './did-you-mean.ts';
import { Failure } from './exit-codes.ts';
import { describeVerb, type Surroundings, stopped, type Verb } from './surroundings.ts';

/** However fast it is played: a bridge looks once a second. */
const minimumStepSeconds = 2;

interface SimulateOptions {
  readonly list?: true;
  readonly json?: true;
  readonly speed?: number;
  readonly vm: string;
}

/** `simulate`: a local Azure to point a bridge at, for trying things out and for tests from outside. */
export const addSimulate: Verb = (program, surroundings) => {
  const command = program
    .command('simulate')
    .description('run a local Azure: instance metadata, Event Hubs and Logs Ingestion, until stopped')
    .argument('[scenario]', 'what happens to the VM once everything is ready; see --list')
    .option('--list', 'list the scenarios and end')
    .option(
      '--speed <factor>',
      'play the scenario that many times as fast as Azure (default: its own, see --list)',
      positiveNumber,
    )
    .option('--vm <name>', 'the VM that the scenario is about', 'web_0')
    .option('--json', 'print the addresses as one line of JSON when ready');
  describeVerb(command).action(async (name: string | undefined, options: SimulateOptions) => {
    if (options.list) return surroundings.print(listScenarios());
    await simulate(name === undefined ? null : scenarioNamed(name), options, surroundings);
  });
};

async function simulate(
  scenario: Scenario | null,
  options: SimulateOptions,
  { print, stop }: Surroundings,
): Promise<void> {
  const [{ startAzureSimulator }, { playScenario }] = await Promise.all([
    import('../azure-simulator/index.ts'),
    import('../azure-simulator/player.ts'),
  ]);
  const azure = await startAzureSimulator({ vms: [{ name: options.vm }] });
  try {
    if (options.json) print(`${JSON.stringify(addresses(azure, options.vm))}\n`);
    else {
      print(introduce(azure, options.vm));
      tellChanges(azure, print);
    }
    if (scenario) {
      const speed = options.speed ?? scenario.demoSpeed;
      await playScenario(azure.imds, scenario, { speed, minimumStepSeconds, resources: [options.vm], signal: stop });
    }
    await stopped(stop);
  } finally {
    await azure.close();
  }
}

/** Prints every change of the document, whoever made it. */
function tellChanges({ imds }: AzureSimulator, print: Surroundings['print']): void {
  let told = 0;
  imds.watch(() => {
    for (const { at, eventType, eventId, step, resources, incarnation } of imds.issued.slice(told)) {
      print(
        `${at.toISOString()}  ${eventType} ${eventId} of ${resources.join(', ')} ${step} (incarnation ${incarnation})\n`,
      );
    }
    told = imds.issued.length;
  });
}

/** What another program needs to use the simulator: the line that `--json` prints. */
export function addresses({ imds, eventHubs, logAnalytics, caFile }: AzureSimulator, vm: string) {
  const { fullyQualifiedNamespace, customEndpoint, websocketEndpoint, plainPort, connectionString, eventHubName } =
    eventHubs;
  return {
    imds: imds.vmUrl(vm),
    eventHubs: {
      fullyQualifiedNamespace,
      customEndpoint,
      websocketEndpoint,
      plainPort,
      connectionString,
      eventHubName,
    },
    logAnalytics: { endpoint: logAnalytics.endpoint, ruleId: logAnalytics.ruleId, streamName: logAnalytics.streamName },
    caFile,
  };
}

/** A configuration with which a bridge on this machine uses the simulator. */
export function bridgeConfiguration(azure: AzureSimulator, vm: string, stateDirectory: string) {
  const { imds, eventHubs, logAnalytics, caFile } = addresses(azure, vm);
  const { fullyQualifiedNamespace, customEndpoint, eventHubName } = eventHubs;
  return {
    imds: { endpoint: imds },
    stateDirectory,
    sinks: { eventHubs: { fullyQualifiedNamespace, eventHubName, customEndpoint }, logAnalytics, stdout: {} },
    tls: { caFile },
  };
}

function introduce(azure: AzureSimulator, vm: string): string {
  const { imds, eventHubs, logAnalytics, caFile } = addresses(azure, vm);
  return `A local Azure is ready; Ctrl+C ends it.

  Instance metadata  ${imds}
  Event Hubs         ${eventHubs.customEndpoint} as ${eventHubs.fullyQualifiedNamespace}, event hub ${eventHubs.eventHubName}
                     ${eventHubs.websocketEndpoint} (WebSockets)
                     ${eventHubs.connectionString}
  Logs Ingestion     ${logAnalytics.endpoint}, rule ${logAnalytics.ruleId}, stream ${logAnalytics.streamName}
  Its authority      ${caFile}

A bridge that uses it; save this as bridge.json and start it with: scheduled-events-bridge run --config bridge.json

${JSON.stringify(bridgeConfiguration(azure, vm, './bridge-state'), null, 2)}

`;
}

function scenarioNamed(name: string): Scenario {
  const found = findScenario(name);
  if (found) return found;
  const names = scenarios.map((scenario) => scenario.name);
  const near = closest(name, names);
  throw new Failure(
    'usage',
    `There is no scenario "${name}"; ${near ? `did you mean ${near}?` : `there are ${names.join(', ')}.`}`,
  );
}

function listScenarios(): string {
  return scenarios
    .map(({ name, description, demoSpeed }) => `${name.padEnd(18)}${description} Speed ${demoSpeed}.\n`)
    .join('');
}

function positiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 100_000)) throw new InvalidArgumentError('expected a number above 0, at most 100000.');
  return value;
}
