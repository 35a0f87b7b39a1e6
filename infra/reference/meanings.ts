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
  Updated: 'What was announced has changed; `changes` says how.',
  Started: 'It is happening, or may at any moment.',
  Completed: 'It is over, and it took place: recover.',
  Canceled: 'It is over, and it did not take place: recover.',
  Ended: 'It is over, and nobody knows whether it took place: recover, and look at the evidence.',
  Approved: 'The bridge told Azure that it may start; the evidence says with what outcome.',
  Snapshot:
    'About no event: `eventsInSight` lists those that had not ended five minutes after this stream began. What earlier streams of this VM held open, and it does not list, has ended.',
};

/** Why a record says what it says. A word without a row does not compile. */
export const evidenceMeanings: Readonly<
  Record<EndEvidence | StepEvidence | (typeof approvalEvidence | typeof snapshotEvidence)[number], string>
> = {
  'said-by-azure': 'Azure said so itself.',
  'boot-id-changed': 'The machine has booted since it was last listed.',
  'incarnation-reset': 'It left around a restart of the service: decided five minutes later.',
  'physical-host-changed': 'The VM moved to another physical host while this event could have its impact.',
  'pause-observed': 'The VM itself stood still for a second or more while this event could have its impact.',
  'reboot-became-freeze': 'A reboot was announced, and the VM was only paused.',
  'left-after-started': 'It was listed as Started, then no more.',
  'left-before-not-before': 'It left well before it could have begun, and nothing was missed in between.',
  'incarnation-gap': 'Documents in between were not seen: it may have started and ended there.',
  'observation-gap':
    'The bridge did not see the endpoint for a while. Of a `Started`: `startedAt` is the latest that it can have been.',
  'not-before-passed': 'It left after the time from which it could have begun.',
  'not-before-near': 'It left within a minute of that time.',
  'not-before-unknown': 'That time was never known.',
  approved: 'This bridge had approved it.',
  superseded: 'Another event of this VM started meanwhile.',
  'unreadable-entry':
    'An entry whose EventId could not be read may have been it; after five minutes that hides it no longer.',
  'impact-ambiguous':
    'The pause, the outage or the change of host that is booked here may have been that of another event, or of none: it proves nothing about this one.',
  'started-without-notice': 'It was Started when it was first seen.',
  'present-at-first-look':
    'It was there at the first look, after a gap, or while the list of the service was incomplete: its true beginning is not known.',
  reappeared: 'It is listed again after we said that it ended: take that end back.',
  'became-affected': 'This VM is named now, and was not before.',
  'left-resources': 'This VM is no longer named.',
  'status-went-back': 'Azure said Scheduled again after Started.',
  'status-unknown': 'Azure gave a status that nobody knows.',
  'notBefore-earlier': 'It may begin earlier than was said.',
  'notBefore-later': 'It begins later than was said.',
  'eventType-changed': 'It is of another type now.',
  'affectedResources-changed': 'It names other VMs now.',
  'durationSeconds-changed': 'It takes another time now.',
  accepted: 'Azure took the approval.',
  refused: 'Azure refused the approval.',
  'outcome-unknown': 'No answer came: the approval may have been taken.',
  'new-stream': 'The state of this VM is new: its first use, or it was lost.',
};

/** Variables beside those of the configuration, and what becomes of them. */
export const otherVariables: readonly { readonly names: readonly string[]; readonly meaning: string }[] = [
  {
    names: ['SCHEDULED_EVENTS_BRIDGE_CONFIG'],
    meaning: 'The configuration file, where `--config` names none.',
  },
  {
    names: ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy', 'ALL_PROXY', 'all_proxy'],
    meaning:
      'Proxy for Logs Ingestion and for Event Hubs over WebSockets; `proxy.url` wins over it. Never used for the metadata service and tokens.',
  },
  {
    names: ['NO_PROXY', 'no_proxy'],
    meaning: 'Hosts that are reached directly; the metadata service and `proxy.bypass` are added.',
  },
  { names: ['SSL_CERT_FILE'], meaning: 'PEM file of authorities that are trusted in addition, like `tls.caFile`.' },
  {
    names: ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'],
    meaning:
      'Set by systemd: it is told READY=1, STATUS=, STOPPING=1 and, in a third of the time it gives, WATCHDOG=1.',
  },
  {
    names: ['IDENTITY_ENDPOINT', 'IDENTITY_HEADER', 'MSI_ENDPOINT', 'MSI_SECRET', 'AZURE_FEDERATED_TOKEN_FILE'],
    meaning: 'Removed from our own process: they would lead to the identity service of another product.',
  },
  {
    names: ['AZURE_POD_IDENTITY_AUTHORITY_HOST'],
    meaning: 'Replaced in our own process: tokens come from `imds.endpoint`.',
  },
  {
    names: ['KUBERNETES_SERVICE_HOST'],
    meaning:
      'Set by Kubernetes in every container: nothing is approved there, and a configuration that approves is refused.',
  },
  { names: ['ProgramData'], meaning: 'Windows: below it are the configuration file and the state directory.' },
  { names: ['NO_COLOR', 'TERM'], meaning: 'Whether output to a terminal has colours.' },
];
