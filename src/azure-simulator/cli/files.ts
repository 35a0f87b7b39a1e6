import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { Failure } from '../../cli/exit-codes.ts';
import type { AzureSimulator } from '../index.ts';
import { addresses, bridgeConfiguration } from './addresses.ts';

/** The directory of the files that clients of the simulator need. */
export interface ClientFiles {
  /** As the person named it, for messages. */
  readonly shown: string;
  readonly directory: string;
  /** Writes the configuration of a bridge and the variables of other clients. `control`: URL of the control API. */
  write(azure: AzureSimulator, vm: string, control: string): void;
  /** Removes these files, unless the directory was named. Files of a bridge stay. */
  remove(): void;
}

/** @param named the directory; undefined: a temporary one. @throws Failure when it is not writable. */
export function openClientFiles(named: string | undefined): ClientFiles {
  const directory = named === undefined ? mkdtempSync(join(tmpdir(), 'local-azure-')) : makeDirectory(named);
  return {
    shown: named ?? directory,
    directory,
    write(azure, vm, control) {
      const configuration = bridgeConfiguration(azure, vm, join(directory, 'state'));
      const keep = (name: string, text: string): void => writeFileSync(join(directory, name), text, { mode: 0o600 });
      keep('bridge.json', `${JSON.stringify(configuration, null, 2)}\n`);
      const variables = variablesOf(azure, vm, control);
      keep('variables.sh', shellText(variables));
      keep('variables.ps1', powerShellText(variables));
    },
    remove() {
      if (named !== undefined) return;
      for (const name of ['bridge.json', 'variables.sh', 'variables.ps1', 'ca.pem', 'server.pem', 'server-key.pem']) {
        rmSync(join(directory, name), { force: true });
      }
      if (readdirSync(directory).length === 0) rmdirSync(directory);
    },
  };
}

/** With a `.gitignore` in a new directory. */
function makeDirectory(named: string): string {
  const directory = resolve(named);
  try {
    mkdirSync(directory, { recursive: true });
    if (readdirSync(directory).length === 0) writeFileSync(join(directory, '.gitignore'), '*\n');
    return directory;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Failure('usage', `Cannot write to ${named} (${code ?? message}): name another directory.`);
  }
}

/** Variables that point Azure clients at the simulator: those that libraries read, then those of the examples. */
function variablesOf(azure: AzureSimulator, vm: string, control: string): Readonly<Record<string, string>> {
  const { imds, eventHubs, logAnalytics, caFile } = addresses(azure, vm, control);
  return {
    AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.imds.url,
    NODE_EXTRA_CA_CERTS: caFile,
    SSL_CERT_FILE: caFile,
    REQUESTS_CA_BUNDLE: caFile,
    EVENT_HUBS_NAMESPACE: eventHubs.fullyQualifiedNamespace,
    EVENT_HUBS_CUSTOM_ENDPOINT: eventHubs.customEndpoint,
    EVENT_HUB_NAME: eventHubs.eventHubName,
    LOGS_INGESTION_ENDPOINT: logAnalytics.endpoint,
    LOGS_INGESTION_RULE_ID: logAnalytics.ruleId,
    LOGS_INGESTION_STREAM: logAnalytics.streamName,
    STATE_FILE: join(dirname(caFile), 'subscriber-state.json'),
    SIMULATOR_IMDS: imds,
    SIMULATOR_CONTROL: control,
    SIMULATOR_CONNECTION_STRING: eventHubs.connectionString,
    SIMULATOR_WEBSOCKETS: eventHubs.websocketEndpoint,
  };
}

/** For `. variables.sh` of a POSIX shell. */
function shellText(variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(
    ([name, value]) => `export ${name}='${value.replaceAll("'", "'\\''")}'\n`,
  );
  return `# ${purpose} Source it in a separate shell, which then trusts no other authority.\n${lines.join('')}`;
}

/** For `. ./variables.ps1` of PowerShell. */
function powerShellText(variables: Readonly<Record<string, string>>): string {
  const lines = Object.entries(variables).map(([name, value]) => `$env:${name} = '${value.replaceAll("'", "''")}'\n`);
  return `# ${purpose} Run it in a separate PowerShell, whose programs then trust no other authority.\n${lines.join('')}`;
}

const purpose = 'Points Azure clients at the simulator.';
