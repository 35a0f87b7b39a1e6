import { type Command, InvalidArgumentError } from 'commander';
import { platformPaths, readConfigFile } from '../../config/config-file.ts';
import { loadConfig } from '../../config/load-config.ts';
import { environmentName } from '../../config/options.ts';
import { type ConfigDocument, configFileVariable, ownVariables, readConfig } from '../../config/read-config.ts';
import { describeProblems } from '../../service/configure.ts';
import type { EventHubsConfig } from '../../sinks/event-hubs/config.ts';
import { type CommandContext, configFileOption } from '../command-context.ts';
import { Failure } from '../exit-codes.ts';
import { applySettings } from '../start.ts';

/** Which hub to read, and as which reader. */
export interface HubArguments {
  readonly config?: string;
  readonly namespace?: string;
  readonly hub?: string;
  readonly consumerGroup: string;
}

/** Adds {@link HubArguments}. */
export function addHubOptions(command: Command): Command {
  return command
    .option('--namespace <name>', 'Event Hubs namespace, such as contoso', namespaceName)
    .option('--hub <name>', 'event hub in it, such as vm-lifecycle')
    .option(...configFileOption)
    .option('--consumer-group <name>', 'consumer group to read with', groupName, 'tail');
}

const publicSuffix = '.servicebus.windows.net';

function namespaceName(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected the name of a namespace.');
  return /[.:]|^localhost$/.test(text) ? text : `${text}${publicSuffix}`;
}

function groupName(text: string): string {
  if (!/^(\$Default|[A-Za-z0-9][\w.-]{0,49})$/i.test(text))
    throw new InvalidArgumentError('expected the name of a consumer group.');
  return text;
}

/** The hub to read. Sets what is process-wide. */
export interface HubSettings {
  readonly eventHubs: EventHubsConfig;
  /** Of a user-assigned managed identity. */
  readonly clientId: string | null;
  readonly warnings: readonly string[];
}

/** @throws Failure if the options, variables and configuration do not give one event hub, or a setting is unusable. */
export function readHubSettings(options: HubArguments, { env }: CommandContext): HubSettings {
  const { config, sourceOf, eventHubs } = loadHubConfig(options, env);
  const warnings = applySettings(config, env, sourceOf, 'the user');
  return { eventHubs, clientId: config.identity.clientId, warnings };
}

const stringVariable = environmentName('sinks.eventHubs.connectionString');
const howToName = `name one with --namespace and --hub, or a bridge's configuration with --config. A connection string belongs into the environment variable ${stringVariable}.`;

/** Options override variables, which override the configuration file. The default file is read only if no namespace is named. */
export function loadHubConfig(options: HubArguments, given: NodeJS.ProcessEnv) {
  const flags = flagsOf(options);
  const env = withoutOverridden(given, options);
  const documents = flags === null ? [] : [flags];
  const namedFile = options.config ?? env[configFileVariable];
  if (!namedFile && flags === null && ownVariables(env).length === 0 && !hasDefaultFile(env))
    throw new Failure('configuration', `Which event hub? ${howToName[0]?.toUpperCase()}${howToName.slice(1)}`);
  const loaded =
    namedFile || options.namespace === undefined
      ? loadConfig({ file: options.config, env, documents })
      : readConfig({ documents, env, defaultStateDirectory: platformPaths(process.platform, env).stateDirectory });
  if (loaded.problems?.some((problem) => problem.startsWith('sinks.eventHubs.eventHubName is missing')))
    throw new Failure(
      'configuration',
      'Which event hub of the namespace? Name it with --hub, such as --hub vm-lifecycle.',
    );
  if (options.hub !== undefined && loaded.problems?.some((problem) => problem.endsWith('; neither is set.')))
    throw new Failure(
      'configuration',
      `Which namespace? Name it with --namespace, such as --namespace contoso, or set ${stringVariable}.`,
    );
  if (loaded.problems) throw new Failure('configuration', describeProblems(loaded.problems));
  const { eventHubs } = loaded.config.sinks;
  if (eventHubs === null) throw new Failure('configuration', `The configuration has no event hub: ${howToName}`);
  return { ...loaded, eventHubs };
}

const hasDefaultFile = (env: NodeJS.ProcessEnv): boolean =>
  readConfigFile(platformPaths(process.platform, env).configFile, process.platform).kind !== 'absent';

function flagsOf({ namespace, hub }: HubArguments): ConfigDocument | null {
  if (namespace === undefined && hub === undefined) return null;
  const eventHubs = {
    ...(namespace !== undefined && { fullyQualifiedNamespace: namespace }),
    ...(hub !== undefined && { eventHubName: hub }),
  };
  return { value: { sinks: { eventHubs } }, source: 'the command line', keepsSecrets: true };
}

/** Variables come after documents, and would win over options. */
function withoutOverridden(env: NodeJS.ProcessEnv, { namespace, hub }: HubArguments): NodeJS.ProcessEnv {
  const overridden = [
    ...(namespace === undefined ? [] : ['fullyQualifiedNamespace', 'connectionString']),
    ...(hub === undefined ? [] : ['eventHubName']),
  ].map((key) => environmentName(`sinks.eventHubs.${key}`));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !overridden.includes(name)));
}
