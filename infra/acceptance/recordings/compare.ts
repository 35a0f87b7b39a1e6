import type { DifferenceKind, PlayDifference } from './difference.ts';
import { type ByStatus, chain, type EventCourse } from './event-course.ts';
import { type Course, courseOf, type Play, phasesOf, type Step } from './play.ts';

/**
 * How far times of two plays may be apart. Azure documents a minimum notice and no other time, and a user's request takes Azure a different
 * time on each day: 30 seconds, or a tenth of Azure's time if that is longer. To this are added two polls of each recorder (a second each),
 * multiplied by the speed of the play.
 */
export const tolerances = { seconds: 30, share: 0.1, polls: 2 } as const;

/**
 * Everything that Azure did otherwise than the simulator in the same scenario. Ids, names, dates, and the order of entries in a document are
 * no difference.
 */
export function compare(azure: Play, simulator: Play): readonly PlayDifference[] {
  const courses = [courseOf(azure), courseOf(simulator)] as const;
  const { pairs, onlyInAzure, onlyInSimulator } = matched(courses[0].events, courses[1].events);
  const polls = tolerances.polls * ((azure.speed ?? 1) + (simulator.speed ?? 1));
  return [
    ...onlyInAzure.map((event) => ofEvent(event, { azure: 'listed it', simulator: 'did not' })),
    ...onlyInSimulator.map((event) => ofEvent(event, { azure: 'did not list it', simulator: 'did' })),
    ...pairs.flatMap(([one, other]) => [
      ...inContent(one, other),
      ...inTimes(scaled(one, azure.speed), scaled(other, simulator.speed), polls),
      ...inRecords(nameOf(one), stepsOf(courses[0], one), stepsOf(courses[1], other)),
    ]),
    ...inDocuments(...courses),
  ];
}

const nameOf = ({ type, source }: EventCourse): string => `${type} by ${source}`;

const ofEvent = (event: EventCourse, sides: Pick<PlayDifference, 'azure' | 'simulator'>): PlayDifference => ({
  kind: 'event',
  subject: nameOf(event),
  ...sides,
  tolerance: null,
});

const stepsOf = ({ records }: Course, { eventId }: EventCourse): readonly Step[] =>
  records.get(eventId.toLowerCase()) ?? [];

/** Pairs events of the same type and source, then of the same type, then what is left, each in their order. */
function matched(azure: readonly EventCourse[], simulator: readonly EventCourse[]) {
  const pairs = new Map<EventCourse, EventCourse>();
  const free = new Set(simulator);
  const rules = [
    (one: EventCourse, other: EventCourse) => one.type === other.type && one.source === other.source,
    (one: EventCourse, other: EventCourse) => one.type === other.type,
    () => true,
  ];
  for (const fits of rules) {
    for (const one of azure) {
      const other = pairs.has(one) ? undefined : [...free].find((candidate) => fits(one, candidate));
      if (other === undefined) continue;
      pairs.set(one, other);
      free.delete(other);
    }
  }
  return { pairs: [...pairs], onlyInAzure: azure.filter((one) => !pairs.has(one)), onlyInSimulator: [...free] };
}

function inContent(one: EventCourse, other: EventCourse): readonly PlayDifference[] {
  const subject = nameOf(one);
  const statuses = [...new Set(one.statuses.filter((status) => other.statuses.includes(status)))];
  // That a whole field is absent is one difference, and not also one of its values.
  const ofField = (field: string, differences: readonly PlayDifference[]): readonly PlayDifference[] =>
    one.fields.has(field) === other.fields.has(field) ? differences : [];
  const byStatus = (kind: DifferenceKind, azure: ByStatus, simulator: ByStatus): readonly PlayDifference[] => {
    const all = statuses.flatMap((status) =>
      differ(kind, status, azure.get(status) ?? '', simulator.get(status) ?? ''),
    );
    return [...Map.groupBy(all, (each) => JSON.stringify([each.azure, each.simulator])).values()].flatMap(
      ([first, ...rest]) =>
        first === undefined
          ? []
          : { ...first, subject: [subject, first.subject, ...rest.map((each) => each.subject)].join(', ') },
    );
  };
  return [
    ...ofField('EventType', differ('event-type', subject, one.type, other.type)),
    ...ofField('EventSource', differ('event-source', subject, one.source, other.source)),
    ...ofField('ResourceType', differ('resource-type', subject, one.resourceType, other.resourceType)),
    ...differ('status-sequence', subject, chain(one.statuses), chain(other.statuses)),
    ...ofField('Resources', differ('own-name', subject, one.ownName, other.ownName)),
    ...differ('not-before-moved', subject, one.moves.join(', ') || 'none', other.moves.join(', ') || 'none'),
    ...ofField('Resources', byStatus('resources', one.resources, other.resources)),
    ...ofField('NotBefore', byStatus('not-before', one.hasNotBefore, other.hasNotBefore)),
    ...ofField('DurationInSeconds', byStatus('duration', one.duration, other.duration)),
    ...ofField('Description', byStatus('description', one.description, other.description)),
    ...inFields(subject, one.fields, other.fields),
  ];
}

function differ(kind: DifferenceKind, subject: string, azure: string, simulator: string): readonly PlayDifference[] {
  return azure === simulator ? [] : [{ kind, subject, azure, simulator, tolerance: null }];
}

/** A field that is empty in one of them has no form to compare. */
function inFields(subject: string, azure: Course['fields'], simulator: Course['fields']): readonly PlayDifference[] {
  const names = [...new Set([...azure.keys(), ...simulator.keys()])].sort();
  return names.flatMap((name) => {
    const has = (fields: Course['fields']): string =>
      fields.has(name) ? `has it (${fields.get(name) ?? 'empty'})` : 'does not';
    if (azure.has(name) !== simulator.has(name)) {
      return differ('field', `${subject}, ${name}`, has(azure), has(simulator));
    }
    const [one, other] = [azure.get(name) ?? null, simulator.get(name) ?? null];
    return one === null || other === null ? [] : differ('form', `${subject}, ${name}`, one, other);
  });
}

type Times = Pick<EventCourse, 'noticeSeconds' | 'firstAt' | 'startedAt' | 'goneAt'> & { readonly name: string };

/** In seconds of reality. */
function scaled(event: EventCourse, speed = 1): Times {
  const times = (seconds: number | null): number | null => (seconds === null ? null : seconds * speed);
  return {
    name: nameOf(event),
    noticeSeconds: times(event.noticeSeconds),
    firstAt: event.firstAt * speed,
    startedAt: times(event.startedAt),
    goneAt: times(event.goneAt),
  };
}

function inTimes(one: Times, other: Times, polls: number): readonly PlayDifference[] {
  const near = (kind: DifferenceKind, azure: number | null, simulator: number | null): readonly PlayDifference[] => {
    // That one of them has no such time shows in NotBefore or in the statuses.
    if (azure === null || simulator === null) return [];
    const tolerance = Math.max(tolerances.seconds, tolerances.share * azure) + polls;
    if (Math.abs(azure - simulator) <= tolerance) return [];
    return [
      { kind, subject: one.name, azure: seconds(azure), simulator: seconds(simulator), tolerance: seconds(tolerance) },
    ];
  };
  const bothStarted = one.startedAt !== null && other.startedAt !== null;
  const after = (from: number | null, to: number | null): number | null =>
    from === null || to === null ? null : to - from;
  const end = ({ firstAt, startedAt, goneAt }: Times): number | null =>
    after(bothStarted ? startedAt : firstAt, goneAt);
  return [
    ...near('notice', one.noticeSeconds, other.noticeSeconds),
    ...near('time-to-start', after(one.firstAt, one.startedAt), after(other.firstAt, other.startedAt)),
    ...((one.startedAt === null) === (other.startedAt === null) ? near('time-to-end', end(one), end(other)) : []),
  ];
}

const seconds = (value: number): string => `${Math.round(value)} s`;

function inRecords(subject: string, azure: readonly Step[], simulator: readonly Step[]): readonly PlayDifference[] {
  const phases = differ('phases', subject, phasesOf(azure), phasesOf(simulator));
  if (phases.length > 0) return phases;
  return azure.flatMap(({ phase, evidence }, index) =>
    differ('evidence', `${subject}, ${phase}`, evidence.join(', '), simulator[index]?.evidence.join(', ') ?? ''),
  );
}

function inDocuments(azure: Course, simulator: Course): readonly PlayDifference[] {
  const subject = 'the recording';
  const list = (values: readonly string[]): string => values.join(', ') || 'none';
  const documents = differ('documents', subject, String(azure.documents), String(simulator.documents));
  const incarnations = differ('incarnations', subject, list(azure.incarnations), list(simulator.incarnations));
  return [
    ...documents,
    // With another number of documents the steps between them differ anyway.
    ...(documents.length > 0 ? [] : incarnations),
    ...differ('answers', subject, list(azure.answers), list(simulator.answers)),
    ...inFields('the document', azure.fields, simulator.fields),
  ];
}
