/** Something that Azure did otherwise than the simulator in the same scenario. */
export interface PlayDifference {
  readonly kind: DifferenceKind;
  /** What it is about: `Reboot by User, Scheduled`, or `the recording`. */
  readonly subject: string;
  readonly azure: string;
  readonly simulator: string;
  /** How far apart the two may be; null where they must be equal. */
  readonly tolerance: string | null;
}

/** Each with its meaning, and the file of this repository to change if Azure is right. */
export const differenceKinds = {
  event: { what: 'an event was listed by only one of them', change: 'src/azure-simulator/scenarios/requested.ts' },
  'event-type': { what: 'EventType', change: 'src/azure-simulator/scenarios/requested.ts' },
  'event-source': { what: 'EventSource', change: 'src/azure-simulator/scenarios/requested.ts' },
  'resource-type': { what: 'ResourceType', change: 'src/azure-simulator/imds/wire.ts' },
  'status-sequence': { what: 'the sequence of EventStatus', change: 'src/azure-simulator/scenarios/requested.ts' },
  resources: { what: 'the number of Resources', change: 'src/azure-simulator/scenarios/requested.ts' },
  'own-name': { what: 'how Resources names the VM', change: 'src/azure-simulator/imds/vm.ts' },
  'not-before': { what: 'whether NotBefore has a date', change: 'src/azure-simulator/imds/wire.ts' },
  'not-before-moved': { what: 'changes of NotBefore', change: 'src/azure-simulator/scenarios/requested.ts' },
  duration: { what: 'DurationInSeconds', change: 'src/azure-simulator/imds/wire.ts' },
  description: { what: 'Description', change: 'src/azure-simulator/imds/wire.ts' },
  notice: {
    what: 'notice: NotBefore after the event was first listed',
    change: 'src/azure-simulator/scenarios/requested.ts',
  },
  'time-to-start': { what: 'time from first listed to Started', change: 'src/azure-simulator/scenarios/requested.ts' },
  'time-to-end': {
    what: 'time from Started, or first listed, to no longer listed',
    change: 'src/azure-simulator/scenarios/requested.ts',
  },
  field: { what: 'a field that only one of them has', change: 'src/azure-simulator/imds/wire.ts' },
  form: { what: 'type or form of a field', change: 'src/azure-simulator/imds/wire.ts' },
  documents: { what: 'number of different documents', change: 'src/azure-simulator/imds/document.ts' },
  incarnations: { what: 'steps of DocumentIncarnation', change: 'src/azure-simulator/imds/document.ts' },
  answers: { what: 'answers that are no documents', change: 'src/azure-simulator/scenarios/faults.ts' },
  phases: { what: 'phases of the records', change: 'src/lifecycle/steps.ts' },
  evidence: { what: 'evidence of the records', change: 'src/lifecycle/ends.ts' },
} as const satisfies Readonly<Record<string, { readonly what: string; readonly change: string }>>;

export type DifferenceKind = keyof typeof differenceKinds;

/** One sentence without its stop. @param sides which plays were compared: that of a run against the simulator has two of them */
export function describeDifference(
  { kind, subject, azure, simulator, tolerance }: PlayDifference,
  sides: readonly [one: string, other: string] = ['Azure', 'the simulator'],
): string {
  const allowed = tolerance === null ? '' : ` (tolerance ${tolerance})`;
  return `${subject}: ${differenceKinds[kind].what}: ${sides[0]} ${azure}, ${sides[1]} ${simulator}${allowed}`;
}
