import { newestInstanceVersion } from '../../../src/imds/instance-version.ts';
import type { StepContext } from '../step.ts';
import type { MachineFound } from './found.ts';
import { runOn } from './run-script.ts';
import type { AzureTools } from './tools.ts';

const metadata = (path: string): string => `'http://169.254.169.254/metadata/${path}'`;
const curl = "curl --silent --noproxy '*' --header Metadata:true";

/** The fields of the instance metadata that become columns of a record. */
const fields = [
  'name',
  'vmId',
  'resourceId',
  'vmScaleSetName',
  'virtualMachineScaleSet',
  'placementGroupId',
  'location',
  'zone',
  'platformFaultDomain',
  'platformUpdateDomain',
  'tagsList',
  'vmSize',
  'priority',
  'osType',
];

const instanceScript = [
  'set -e',
  `${curl} ${metadata(`instance/compute?api-version=${newestInstanceVersion}`)} > /tmp/acceptance-instance.json`,
  `python3 -c 'import json; c = json.load(open("/tmp/acceptance-instance.json")); print(json.dumps({k: c.get(k) for k in ${JSON.stringify(fields)}}))'`,
  'rm /tmp/acceptance-instance.json',
].join('\n');

interface InstanceMetadata {
  readonly name?: string;
  readonly vmId?: string;
  readonly resourceId?: string;
  readonly vmScaleSetName?: string;
  readonly virtualMachineScaleSet?: { readonly id?: string };
  readonly tagsList?: readonly { readonly name: string; readonly value: string }[];
  readonly vmSize?: string;
}

const isSame = (one: string | undefined, other: string): boolean => one?.toLowerCase() === other.toLowerCase();

/** What the instance metadata of a machine says otherwise than Azure's control plane, each as a phrase. */
export function contradictionsIn(
  seen: InstanceMetadata,
  machine: MachineFound,
  tags: Readonly<Record<string, string>>,
): readonly string[] {
  const setName = seen.vmScaleSetName || seen.virtualMachineScaleSet?.id?.split('/').at(-1) || null;
  const missingTags = Object.entries(tags).filter(
    ([name, value]) => !seen.tagsList?.some((tag) => isSame(tag.name, name) && tag.value === value),
  );
  return [
    ...(isSame(seen.name, machine.name) ? [] : [`the name is ${seen.name} instead of ${machine.name}`]),
    ...(isSame(seen.resourceId, machine.resourceId)
      ? []
      : [`the resource id is ${seen.resourceId} instead of ${machine.resourceId}`]),
    ...(isSame(seen.vmSize, machine.size) ? [] : [`the size is ${seen.vmSize} instead of ${machine.size}`]),
    ...(seen.vmId ? [] : ['there is no vmId']),
    ...((setName ?? '').toLowerCase() === (machine.scaleSet ?? '').toLowerCase()
      ? []
      : [`the scale set is ${setName} instead of ${machine.scaleSet}`]),
    ...missingTags.map(([name]) => `the tag ${name} is missing`),
  ];
}

/** Compares the instance metadata with what the control plane says of the machine. */
export async function compareInstanceMetadata(
  context: StepContext,
  tools: AzureTools,
  machine: MachineFound,
): Promise<void> {
  const { run, report, save } = context;
  const { stdout, stderr } = await runOn(context, tools, machine, { name: 'instance', script: instanceScript });
  const file = save(`${machine.name}.instance.json`, `${stdout}\n`);
  const seen = parsed(stdout);
  if (seen === null)
    return context.say(`the instance metadata of ${machine.name} could not be read: ${stderr || stdout}`);
  // Whether an instance has the tags of its set is not for the metadata service to decide.
  const contradictions = contradictionsIn(seen, machine, machine.scaleSet === null ? run.tags : {});
  report({
    assumption: 'imds-instance-fields',
    verdict: contradictions.length === 0 ? 'proven' : 'refuted',
    evidence:
      contradictions.length === 0
        ? `${machine.name} (${machine.role}): name, id, size, scale set and tags are as in the control plane.`
        : `${machine.name} (${machine.role}): ${contradictions.join('; ')}.`,
    file,
  });
}

function parsed(text: string): InstanceMetadata | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Asks the metadata service for a version that does not exist. */
export async function requestUnknownVersion(
  context: StepContext,
  tools: AzureTools,
  machine: MachineFound,
): Promise<void> {
  const script = `${curl} --write-out '\\n%{http_code}' ${metadata('instance?api-version=2099-01-01')}`;
  const { stdout } = await runOn(context, tools, machine, { name: 'unknown-version', script });
  const file = context.save(`${machine.name}.unknown-version.txt`, `${stdout}\n`);
  const status = stdout.split('\n').at(-1) ?? '';
  if (!isHttpStatus(status)) return context.say(`the metadata service has not answered on ${machine.name}: ${stdout}`);
  const isListed = status === '400' && /newest-versions/.test(stdout) && /\d{4}-\d{2}-\d{2}/.test(stdout);
  context.report({
    assumption: 'imds-instance-old-host',
    verdict: isListed ? 'proven' : 'refuted',
    evidence: isListed
      ? 'A version that does not exist is answered with 400 and newest-versions.'
      : `A version that does not exist is answered with ${status}, and not with a list of versions.`,
    file,
  });
}

/** curl writes 000 where there was no answer; a script that did not end writes nothing. */
const isHttpStatus = (text: string): boolean => /^[1-5]\d\d$/.test(text);

/** Until when the first request is answered, in seconds: `infra/configuration.md`. */
const firstAnswerLimit = 130;

/** The first request for Scheduled Events on a new VM, before the bridge is on it. */
export async function measureFirstRequest(
  context: StepContext,
  tools: AzureTools,
  machine: MachineFound,
): Promise<void> {
  const script = `${curl} --max-time 300 --output /dev/null --write-out '%{http_code} %{time_total}' ${metadata('scheduledevents?api-version=2020-07-01')}`;
  const { stdout, stderr } = await runOn(context, tools, machine, { name: 'first-request', script });
  const [status, seconds] = stdout.split(' ');
  if (!(Number(seconds) >= 0))
    return context.say(`the first request on ${machine.name} printed no time: ${stderr || stdout}`);
  context.measure('first request for Scheduled Events', Number(seconds), `HTTP ${status} on ${machine.name}`);
  const isInTime = Number(seconds) <= firstAnswerLimit;
  if (status !== '200' && isInTime)
    return context.say(`the first request for Scheduled Events ended with HTTP ${status}`);
  context.report({
    assumption: 'imds-first-request',
    verdict: isInTime ? 'proven' : 'refuted',
    evidence: `The first request on ${machine.name} was answered with HTTP ${status} after ${seconds} s.`,
  });
}

/** What the scripts of a run rely on, in characters. Microsoft documents the last 4,096 bytes of both streams. */
const returnedAtLeast = 3_000;

/** Whether a script runs as root, and how much of a long output Azure returns. */
export async function probeRunCommand(context: StepContext, tools: AzureTools, machine: MachineFound): Promise<void> {
  const isWindows = machine.os === 'windows';
  // At both ends, because either may be cut off.
  const script = isWindows ? 'whoami\n1..2000\nwhoami' : 'id -un\nseq 1 2000\nid -un';
  const { stdout } = await runOn(context, tools, machine, { name: 'run-command', script, isRaw: true });
  const lines = stdout.split(/\r?\n/).map((line) => line.trim());
  const file = context.save(`${machine.name}.run-command.txt`, `${stdout}\n`);
  const account = [lines[0], lines.at(-1)].find((line) => line !== undefined && /^[a-z]/i.test(line));
  if (account === undefined) {
    return context.say(`Run Command on ${machine.name} returned no end of its output: ${file}`);
  }
  const isPrivileged = account.toLowerCase() === (isWindows ? 'nt authority\\system' : 'root');
  const part = /^[a-z]/i.test(lines[0] ?? '') ? 'beginning' : 'end';
  context.report({
    assumption: 'install-run-command',
    verdict: isPrivileged && stdout.length >= returnedAtLeast ? 'proven' : 'refuted',
    evidence: `${machine.name}: a script ran as ${account}; of its output the ${part} was returned, ${stdout.length} characters.`,
    file,
  });
}
