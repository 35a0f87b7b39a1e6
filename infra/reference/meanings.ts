import type {
  approvalEvidence,
  EndEvidence,
  Phase,
  StepEvidence,
  snapshotEvidence,
} from '../../src/lifecycle/record.ts';

/** What a reader does with each phase. A phase without a row does not compile. */
export const phaseMeanings: Readonly<Record<Phase, string>> = {
  Scheduled: 'Azure announces the event: prepare.',
  Updated: 'The announcement changed; `changes` has the old and new values.',
  Started: 'The impact is happening, or can happen at any moment.',
  Completed: 'The event is over, and it took place: recover.',
  Canceled: 'The event is over, and it did not take place: recover.',
  Ended: 'The event is over, and it is unknown whether it took place: recover, and look at the evidence.',
  Approved: 'The bridge asked Azure to start the event; the evidence has the outcome.',
  Snapshot:
    'Not about one event: `eventsInSight` lists the events that had not ended five minutes after this stream began. An event that an earlier stream of this VM left open has ended if it is not listed.',
};

/** Why a record has its phase. A word without a row does not compile. */
export const evidenceMeanings: Readonly<
  Record<EndEvidence | StepEvidence | (typeof approvalEvidence | typeof snapshotEvidence)[number], string>
> = {
  'said-by-azure': 'Azure reported it.',
  'boot-id-changed': 'The machine has booted since the event was last listed.',
  'incarnation-reset':
    'The event disappeared around a restart of the metadata service; the bridge decided five minutes later.',
  'physical-host-changed': 'The VM moved to another physical host while this event could have its impact.',
  'pause-observed': 'The VM was paused for a second or more while this event could have its impact.',
  'reboot-became-freeze': 'A reboot was announced, but the VM was only paused.',
  'left-after-started': 'The event was listed as Started, and then no longer listed.',
  'left-before-not-before': 'The event disappeared well before its notBefore, and no document in between was missed.',
  'incarnation-gap': 'Documents in between were missed: the event may have started and ended in the meantime.',
  'observation-gap': 'The bridge could not poll for a while. For a `Started`: `startedAt` is the latest possible time.',
  'not-before-passed': 'The event disappeared after its notBefore.',
  'not-before-near': 'The event disappeared within a minute of its notBefore.',
  'not-before-unknown': 'The notBefore of the event was never known.',
  approved: 'This bridge had approved the event.',
  superseded: 'Another event of this VM started in the meantime.',
  'unreadable-entry':
    'An entry with an unreadable EventId may have been this event; after five minutes such an entry no longer counts.',
  'impact-ambiguous':
    'The pause, outage or change of host recorded here may belong to another event, or to none, so it proves nothing about this event.',
  'started-without-notice': 'The event was already Started when the bridge first saw it.',
  'present-at-first-look':
    'The event was present at the first poll, after a gap, or while the list of the service was incomplete: its true start is unknown.',
  reappeared: 'The event is listed again after its end was reported: revoke that end.',
  'became-affected': 'The event now names this VM, and did not before.',
  'left-resources': 'The event no longer names this VM.',
  'status-went-back': 'Azure reported Scheduled again after Started.',
  'status-unknown': 'Azure reported an unknown status.',
  'notBefore-earlier': 'The event may start earlier than announced before.',
  'notBefore-later': 'The event starts later than announced before.',
  'eventType-changed': 'The type of the event changed.',
  'affectedResources-changed': 'The list of VMs changed.',
  'durationSeconds-changed': 'The duration of the event changed.',
  accepted: 'Azure accepted the approval.',
  refused: 'Azure refused the approval.',
  'outcome-unknown': 'No response arrived: the approval may have been accepted.',
  'new-stream': 'The state of this VM is new: first use, or it was lost.',
};

/** Environment variables beside those of the configuration, and what they do. */
export const otherVariables: readonly { readonly names: readonly string[]; readonly meaning: string }[] = [
  {
    names: ['SCHEDULED_EVENTS_BRIDGE_CONFIG'],
    meaning: 'The configuration file, if `--config` is not given.',
  },
  {
    names: ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy', 'ALL_PROXY', 'all_proxy'],
    meaning:
      'Proxy for Logs Ingestion and for Event Hubs over WebSockets; `proxy.url` overrides it. Never used for the metadata service and tokens.',
  },
  {
    names: ['NO_PROXY', 'no_proxy'],
    meaning: 'Hosts to connect to directly; the metadata service and `proxy.bypass` are added.',
  },
  { names: ['SSL_CERT_FILE'], meaning: 'PEM file of authorities that are trusted in addition, like `tls.caFile`.' },
  {
    names: ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'],
    meaning:
      'Set by systemd, to which the bridge sends READY=1, STATUS=, STOPPING=1 and, three times per watchdog interval, WATCHDOG=1.',
  },
  {
    names: ['IDENTITY_ENDPOINT', 'IDENTITY_HEADER', 'MSI_ENDPOINT', 'MSI_SECRET', 'AZURE_FEDERATED_TOKEN_FILE'],
    meaning: 'Removed from the process: they would select the identity service of another product.',
  },
  {
    names: ['AZURE_POD_IDENTITY_AUTHORITY_HOST'],
    meaning: 'Replaced in the process: tokens come from `imds.endpoint`.',
  },
  {
    names: ['KUBERNETES_SERVICE_HOST'],
    meaning:
      'Set by Kubernetes in every container, in which the bridge approves nothing and refuses a configuration with approvals.',
  },
  {
    names: ['ProgramData'],
    meaning: 'Windows: the folder that contains the configuration file and the state directory.',
  },
  { names: ['ProgramW6432', 'ProgramFiles'], meaning: 'Windows: the folder that contains the installed program.' },
  {
    names: ['ConfigSequenceNumber', 'VERSION', 'AZURE_GUEST_AGENT_EXTENSION_VERSION'],
    meaning:
      "Set by Azure's guest agent for the command `extension`: the number of the settings, the version to update to, and that of the extension.",
  },
  { names: ['SystemRoot'], meaning: 'Windows: the folder that contains `sc.exe`, `reg.exe` and PowerShell.' },
  { names: ['NO_COLOR', 'TERM'], meaning: 'Whether output to a terminal has colours.' },
];
