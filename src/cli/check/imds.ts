import { notProven, ok, problem, warning } from '../../check/finding.ts';
import { showProxyAgent } from '../../check/remedy.ts';
import type { InstanceAnswer } from '../../imds/client.ts';
import { newestInstanceVersion } from '../../imds/instance-version.ts';
import type { EventsDocument, Observer, PollResult, ScheduledEvent } from '../../lifecycle/scheduled-event.ts';
import { affects } from '../../lifecycle/scope.ts';
import type { OperatingSystem } from '../../operating-system.ts';
import type { CheckContext } from './context.ts';
import type { Finding } from './finding.ts';

export async function checkImds(context: CheckContext): Promise<readonly Finding[]> {
  const [answer, endpoint, vm, seen] = await Promise.all([
    context.instance(),
    context.endpoint(),
    context.vm(),
    context.document(),
  ]);
  const stored = context.state().report?.observer ?? null;
  const { scope, imds, observer } = context.config;
  return imdsFindings({
    answer,
    endpoint,
    apiVersion: imds.apiVersion,
    vm,
    isNameConfigured: observer.vmId !== undefined && observer.vmName !== undefined,
    stored,
    seen,
    witnessRate: scope.witnessRate,
    system: context.system,
  });
}

export interface ImdsSeen {
  readonly answer: InstanceAnswer;
  readonly endpoint: string;
  /** In which documents are asked for. */
  readonly apiVersion: string;
  readonly vm: Observer | null;
  /** `observer.vmId` and `observer.vmName` are set: the service can run without the instance metadata. */
  readonly isNameConfigured: boolean;
  /** As the outbox knows it. */
  readonly stored: Observer | null;
  readonly seen: PollResult;
  readonly witnessRate: number;
  readonly system: Pick<OperatingSystem, 'askMetadata'>;
}

export const imdsFindings = (imds: ImdsSeen): readonly Finding[] => [
  instance(imds),
  document(imds),
  names(imds),
  neighbours(imds),
];

function instance({ answer, endpoint, vm, isNameConfigured, stored, system }: ImdsSeen): Finding {
  const what = 'imds.instance';
  const remedy =
    answer.kind === 'unavailable'
      ? remedyFor(answer.code, `instance?api-version=${newestInstanceVersion}`, { endpoint, vm, system })
      : undefined;
  if (answer.kind === 'unavailable' && !isNameConfigured) return problem(what, answer.reason, remedy);
  if (vm === null) {
    return problem(
      what,
      `${endpoint} returns no vmId or no name of this VM: set observer.vmId and observer.vmName if it is not the endpoint of Azure.`,
    );
  }
  const where = [vm.vmSize, vm.location, vm.zone && `zone ${vm.zone}`].filter(Boolean).join(', ');
  const who = `this VM is ${vm.vmName}, vmId ${vm.vmId}${where && `, ${where}`}`;
  const message =
    answer.kind === 'unavailable'
      ? `${answer.reason} The service uses observer.vmName and observer.vmId of the configuration: ${who}.`
      : `${endpoint} answers (api-version ${answer.apiVersion}): ${who}.`;
  if (stored !== null && stored.vmId.toLowerCase() !== vm.vmId.toLowerCase()) {
    return warning(
      what,
      `${message} The outbox is that of ${stored.vmName}, vmId ${stored.vmId}, as on a copied disk: the service moves it away unsent and begins a new one.`,
      remedy,
    );
  }
  return answer.kind === 'unavailable' ? warning(what, message, remedy) : ok(what, message);
}

function document({ seen, endpoint, apiVersion, vm, system }: ImdsSeen): Finding {
  if (seen.kind === 'unavailable') {
    const path = `scheduledevents?api-version=${apiVersion}`;
    return problem('imds.document', seen.reason, remedyFor(seen.code, path, { endpoint, vm, system }));
  }
  if (seen.kind === 'unchanged') return ok('imds.document', 'The metadata service returns scheduled events.');
  const { incarnation, events, unreadable } = seen.document;
  const count = events.length === 1 ? '1 event' : `${events.length === 0 ? 'no' : events.length} events`;
  const message = `The metadata service returns scheduled events in api-version ${seen.imdsApiVersion}: incarnation ${incarnation}, ${count}.`;
  if (unreadable === 0) return ok('imds.document', message);
  return warning('imds.document', `${message} ${unreadable} more cannot be read: they have no EventId.`);
}

/** More of them would fill the screen. */
const mostEvents = 5;

function names({ seen, vm }: ImdsSeen): Finding {
  const what = 'imds.names';
  if (seen.kind !== 'document') return notProven(what, 'There is no document to check.');
  const { events } = seen.document;
  if (vm === null) return notProven(what, `The name of this VM is not known; the document names ${named(events)}.`);
  if (events.length === 0) return ok(what, `The document lists no events; this VM is ${vm.vmName}.`);
  const listed = events.slice(0, mostEvents).map((event) => describeEvent(event, vm.vmName));
  const more = events.length > mostEvents ? `; and ${events.length - mostEvents} more` : '';
  const message = `${listed.join('; ')}${more}. The name of this VM is ${vm.vmName}.`;
  return isMisnamed(seen.document, vm)
    ? warning(
        what,
        `${message} Unless this VM is in an availability set it receives only its own events, and the names should be its own: then compare observer.vmName, if it is set, with the name of the VM in Azure.`,
      )
    : ok(what, message);
}

const describeEvent = ({ eventType, eventStatus, resources }: ScheduledEvent, vmName: string): string =>
  `${eventType ?? 'an event'} ${eventStatus ?? 'of unknown status'} of ${resources?.slice(0, 5).join(', ') || 'no VM'}${affects(resources, vmName) ? ' (this VM)' : ''}`;

const named = (events: readonly ScheduledEvent[]): string =>
  [...new Set(events.flatMap(({ resources }) => resources ?? []))].slice(0, 10).join(', ') || 'no VM';

const isMisnamed = ({ events }: EventsDocument, vm: Observer): boolean =>
  isAlone(vm) && !events.some(({ resources }) => resources === null || affects(resources, vm.vmName));

// assumption: imds-group-flexible, imds-group-uniform
/** As far as the metadata shows: it has no availability sets. */
const isAlone = (vm: Observer): boolean =>
  vm.vmScaleSetName === null && vm.vmScaleSetResourceId === null && vm.placementGroupId === null;

function neighbours({ answer, vm, witnessRate }: ImdsSeen): Finding {
  const what = 'imds.neighbours';
  if (vm === null || (answer.kind === 'unavailable' && isAlone(vm)))
    return notProven(
      what,
      'The instance metadata is missing, so the scale set or placement group of this VM is not known.',
    );
  if (!isAlone(vm)) {
    const share =
      witnessRate > 0
        ? `this VM publishes a share of ${witnessRate} of the events of others`
        : 'scope.witnessRate is 0, so none of them reports for a VM that is down';
    const set = vm.vmScaleSetName === null ? '' : ` of the scale set ${vm.vmScaleSetName}`;
    return ok(what, `Usually the VMs of a placement group${set} receive each other's events; ${share}.`);
  }
  const message =
    'No other VM can report the events of this VM, unless it is in an availability set, which the metadata does not show: it names no scale set and no placement group.';
  return witnessRate > 0 ? warning(what, `${message} Then scope.witnessRate has no effect.`) : ok(what, message);
}

/** What shows whether the VM or this program is refused: the same request by another program. */
function remedyFor(
  code: string,
  path: string,
  { endpoint, vm, system }: Pick<ImdsSeen, 'endpoint' | 'vm' | 'system'>,
): string | undefined {
  if (code === 'aborted') return undefined;
  if (code === 'http-401' || code === 'http-403') return showProxyAgent(vm);
  const base = endpoint === 'auto' ? 'http://169.254.169.254' : endpoint.replace(/\/+$/, '');
  return system.askMetadata(`${base}/metadata/${path}`);
}
