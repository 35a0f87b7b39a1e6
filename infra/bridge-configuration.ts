/** Outputs of `main.bicep` -> the configuration of a bridge on standard output. See `--help`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../src/cli/exit-codes.ts';
import { print } from '../src/cli/print.ts';
import { describeUsageError } from '../src/cli/usage-error.ts';
import { readConfig } from '../src/config/read-config.ts';

/** Who lets the restarts go ahead that people ask for. `deploy.md` beside this file explains each. */
export const userInitiatedEvents = ['acceptDelay', 'bridgeApproves', 'platformApproves'] as const;
export type UserInitiatedEvents = (typeof userInitiatedEvents)[number];

/** What a bridge must know of its platform: `bridgeSettingsType` of `bicep/types.bicep`, an output of `main.bicep` for each shard. */
export const settingNames = [
  'fullyQualifiedNamespace',
  'eventHubName',
  'logsIngestionEndpoint',
  'ruleId',
  'streamName',
  'heartbeatStreamName',
  'identityClientId',
  'identityResourceId',
] as const;
export type BridgeSettings = Readonly<Record<(typeof settingNames)[number], string>>;

/** With more, an event of all of them could use up the 5,000 connections of a Standard namespace. */
const fewVms = 4000;

/** The same keys as the function of this name in `bicep/types.bicep`, which hands them to a whole fleet. `vms`: how many share the namespace. */
export function bridgeConfiguration(settings: BridgeSettings, choice: UserInitiatedEvents, vms = 1) {
  const { fullyQualifiedNamespace, eventHubName, logsIngestionEndpoint, ruleId, streamName } = settings;
  const jitter = vms > fewVms ? { connectJitterSeconds: 60 } : {};
  return {
    identity: { clientId: settings.identityClientId },
    sinks: {
      eventHubs: { fullyQualifiedNamespace, eventHubName, ...jitter },
      logAnalytics: { endpoint: logsIngestionEndpoint, ruleId, streamName },
    },
    heartbeat: { streamName: settings.heartbeatStreamName },
    ...(choice === 'bridgeApproves' ? { approve: { userInitiated: true } } : {}),
  };
}

/** A sentence for the person at the terminal, and how the process ends. */
class Refusal extends Error {
  readonly code: number;
  constructor(reason: 'usage' | 'configuration', message: string) {
    super(message);
    this.code = exitCodes[reason].code;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const howToAsk = 'az deployment sub show --name <deployment> --query properties.outputs --output json';

/**
 * The settings in the outputs of a deployment: as `--query properties.outputs` gives them, or in the whole answer of
 * `az deployment sub create` or `show`. `source` completes "in …".
 */
function settingsIn(text: string, source: string, region: string | undefined): BridgeSettings {
  const answer = parse(text, source);
  const properties = isObject(answer) && isObject(answer.properties) ? answer.properties : undefined;
  const outputs = properties ? properties.outputs : answer;
  const shards = outputNamed(outputs, 'shards');
  const settings = Array.isArray(shards) ? shardOf(shards, source, region) : outputNamed(outputs, 'settings');
  if (!isObject(settings)) {
    throw new Refusal(
      'configuration',
      `There are no settings of a bridge in ${source}: expected the outputs of main.bicep, as this prints them: ${howToAsk}`,
    );
  }
  const bad = settingNames.filter((name) => typeof settings[name] !== 'string' || settings[name] === '');
  if (bad.length > 0) {
    throw new Refusal(
      'configuration',
      `The settings in ${source} have no text for ${bad.join(', ')}: expected the outputs of the main.bicep of this version; deploy it again.`,
    );
  }
  return settings as BridgeSettings;
}

function outputNamed(outputs: unknown, name: string): unknown {
  const output = isObject(outputs) ? outputs[name] : undefined;
  return isObject(output) ? output.value : undefined;
}

/** A VM writes to the shard of its region: with several of them there is no default. */
function shardOf(shards: readonly unknown[], source: string, region: string | undefined): unknown {
  const known = shards
    .filter(isObject)
    .map(({ regions, settings }) => ({ regions: Array.isArray(regions) ? regions : [], settings }));
  const all = known.flatMap(({ regions }) => regions).join(', ');
  if (region === undefined) {
    if (known.length <= 1) return known[0]?.settings;
    throw new Refusal(
      'usage',
      `There are ${known.length} shards in ${source}: say with --region where the VMs are, one of ${all}.`,
    );
  }
  const shard = known.find(({ regions }) => regions.includes(region));
  if (!shard) throw new Refusal('usage', `No shard in ${source} takes the VMs of ${region}: expected one of ${all}.`);
  return shard.settings;
}

function parse(text: string, source: string): unknown {
  // PowerShell 5 writes a byte order mark, and az prints nothing at all where a deployment has no outputs.
  const json = text.replace(/^\uFEFF/, '');
  if (json.trim() === '') {
    throw new Refusal('configuration', `There is nothing in ${source}: expected what this prints: ${howToAsk}`);
  }
  try {
    return JSON.parse(json);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Refusal(
      'configuration',
      `What is in ${source} is not JSON (${why}): expected what this prints: ${howToAsk}`,
    );
  }
}

/** The file's text, of which the bridge's own reader has found nothing to complain. */
function configurationFile(settings: BridgeSettings, choice: UserInitiatedEvents, vms: number | undefined): string {
  const configuration = bridgeConfiguration(settings, choice, vms);
  const document = { value: configuration, source: 'the configuration made from the outputs', keepsSecrets: false };
  const { problems } = readConfig({ documents: [document], env: {}, defaultStateDirectory: '/' });
  if (problems) throw new Refusal('configuration', `The bridge would not take it: ${problems.join(' ')}`);
  return `${JSON.stringify(configuration, null, 2)}\n`;
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('expected a whole number, at least 1.');
}

const exitHelp = [
  ['ok', 'done'],
  ['usage', exitCodes.usage.meaning],
  ['configuration', 'the outputs cannot be read, or a bridge would not take what they make; nothing was written'],
] as const;

/** What the command does to the world. */
export interface CommandContext {
  /** Text of a file; of standard input where there is no file. */
  readonly read: (file: string | null) => string;
  readonly write: (file: string, text: string) => void;
  readonly print: (text: string) => void;
  readonly say: (text: string) => void;
}

interface Options {
  readonly userInitiatedEvents: UserInitiatedEvents;
  readonly region?: string;
  readonly vms?: number;
  readonly output?: string;
}

/** Carries out the command line; returns the exit code. */
export function makeConfiguration(args: readonly string[], { read, write, print, say }: CommandContext): number {
  const program = new Command('bridge-configuration')
    .description('Writes the configuration of a bridge from the outputs of main.bicep.')
    .argument('[file]', 'outputs of the deployment, as JSON (default: standard input)')
    .addOption(
      new Option('--user-initiated-events <who>', 'who approves restarts that users request')
        .choices(userInitiatedEvents)
        .makeOptionMandatory(),
    )
    .option('--region <region>', 'region of the VMs, such as westeurope; required if there are several shards')
    .option('--vms <number>', 'largest number of VMs that share the namespace (default: at most 4,000)', wholeNumber)
    .option('--output <file>', 'write to this file instead of standard output; not written if there is an error')
    .addHelpText(
      'after',
      `
A polling bridge enables Scheduled Events; from then on a restart or redeploy that a user requests waits for up to 15 minutes:
  acceptDelay       accept the delay
  bridgeApproves    the bridge approves it: approve.userInitiated
  platformApproves  Azure approves it: scheduledEventsPolicy of the VM or scale set; this file does not set it
There is no default: infra/deploy.md explains the consequences of each.

Example:
  ${howToAsk} |
    npm run bridge-configuration -- --user-initiated-events bridgeApproves --output config.json

Exit codes:
${exitHelp.map(([reason, meaning]) => `  ${String(exitCodes[reason].code).padEnd(4)}${meaning}`).join('\n')}
`,
    )
    .configureOutput({ writeOut: print, writeErr: () => {} })
    .exitOverride()
    .action((file: string | undefined, options: Options) => {
      const source = file ?? 'standard input';
      const text = attempt(`${source} cannot be read`, () => read(file ?? null));
      const json = configurationFile(
        settingsIn(text, source, options.region),
        options.userInitiatedEvents,
        options.vms,
      );
      const { output } = options;
      if (output === undefined) print(json);
      else attempt(`${output} cannot be written`, () => write(output, json));
    });
  try {
    program.parse([...args], { from: 'user' });
    return exitCodes.ok.code;
  } catch (error) {
    return explain(error, say);
  }
}

function attempt<T>(what: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw new Refusal('configuration', `${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function explain(error: unknown, say: (text: string) => void): number {
  if (error instanceof Refusal) {
    // One line, also where the parser quotes lines of the input.
    say(`${error.message.replaceAll(/\s+/g, ' ')}\n`);
    return error.code;
  }
  if (!(error instanceof CommanderError)) throw error;
  if (error.exitCode === 0) return exitCodes.ok.code;
  say(`${describeUsageError(error.message)}\n`);
  return exitCodes.usage.code;
}

if (import.meta.main) {
  process.exitCode = makeConfiguration(process.argv.slice(2), {
    read(file) {
      if (file === null && process.stdin.isTTY)
        throw new Error(`it is a terminal; name a file, or pipe into it: ${howToAsk}`);
      return readFileSync(file ?? 0, 'utf8');
    },
    write: (file, text) => writeFileSync(file, text),
    print,
    say: (text) => void process.stderr.write(text),
  });
}
