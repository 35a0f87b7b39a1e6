import type { AzureSimulator } from '../index.ts';
import { addresses } from './addresses.ts';
import { clientsPage, commandFor, runsFromSources } from './programs.ts';

export interface Introduced {
  /** The first VM. */
  readonly vm: string;
  /** URL of the control API. */
  readonly control: string;
  /** The directory of the client files, as messages show it. */
  readonly files: string;
  /** Whether they stay after the end. */
  readonly keepsFiles: boolean;
  /** The file that this program was started with. */
  readonly entry: string;
}

/** How to use the simulator, in less than 80 columns and 24 lines. */
export function introduce(azure: AzureSimulator, { vm, control, files, keepsFiles, entry }: Introduced): string {
  const { imds, eventHubs, logAnalytics } = addresses(azure, vm, control);
  const { vms } = azure.imds;
  const others =
    vms.length > 1 ? `\n${indent}and ${vms.length - 1} more, to ${azure.imds.vmUrl(vms.at(-1)?.name ?? vm)}` : '';
  const inClone = runsFromSources(entry);
  const page = clientsPage(entry);
  return `  Metadata service  ${imds}${others}
  Event Hubs        ${eventHubs.customEndpoint}, event hub ${eventHubs.eventHubName}
  Logs Ingestion    ${logAnalytics.endpoint}
  Control           ${control} lists what it can do
  Files             ${files}${keepsFiles ? '' : '; --write-config DIR keeps them'}

In other terminals, a bridge and ${inClone ? 'a subscriber' : 'the variables for other clients'}:

  ${commandFor('scheduled-events-bridge', entry)} run --config ${files}/bridge.json
  ${inClone ? `(. ${files}/variables.sh; npm run subscriber)` : `. ${files}/variables.sh`}
${page === null ? '' : `\nClients in other languages: ${page}\n`}`;
}

const indent = ' '.repeat(20);
