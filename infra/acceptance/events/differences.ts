import { InvalidInput } from '../../../src/azure-simulator/read-fields.ts';
import { readRecording } from '../../../src/azure-simulator/recording/read-recording.ts';
import { findScenario } from '../../../src/azure-simulator/scenarios/index.ts';
import { compare } from '../recordings/compare.ts';
import type { DifferenceKind, PlayDifference } from '../recordings/difference.ts';
import type { Play } from '../recordings/play.ts';
import { simulatedRecording } from '../recordings/simulated-recording.ts';
import type { Target } from '../target.ts';
import { firstCopies, type Played } from './played.ts';
import type { Scenario } from './scenario.ts';

/** The simulator shortens its waits when it plays, so that these come from the scenario itself. */
const times: readonly DifferenceKind[] = ['notice', 'time-to-start', 'time-to-end'];

/** In everything but times: of a play on this kind of target, and its twin on a simulator. None where one side has no recording. */
export function differencesOf(kind: Target['kind'], played: Played, twin: Played): readonly PlayDifference[] {
  const [one, other] = [
    kind === 'azure' ? playOf(played) : withoutMissedPolls(playOf(played)),
    withoutMissedPolls(playOf(twin)),
  ];
  return one === null || other === null ? [] : compare(one, other).filter(({ kind }) => !times.includes(kind));
}

/** In times: of a play in Azure and the scenario of the simulator. None where there is no recording, or no such scenario. */
export function timeDifferencesOf(
  { simulated }: Pick<Scenario, 'simulated'>,
  played: Played,
): readonly PlayDifference[] {
  const scenario = simulated === null ? undefined : findScenario(simulated);
  const azure = playOf(played);
  if (scenario === undefined || azure === null) return [];
  const announced = firstCopies(played.records).find(({ record }) => record.phase === 'Scheduled')?.record;
  const approvedAfterSeconds =
    announced === undefined || played.approvedAt === null
      ? null
      : Math.max(0, (played.approvedAt.getTime() - Date.parse(announced.observedAt)) / 1000);
  const vm = azure.recording.header.vm?.name ?? '';
  const recording = simulatedRecording(scenario, { vm, approvedAfterSeconds });
  return compare(azure, { recording, records: [] }).filter(({ kind }) => times.includes(kind));
}

/** The simulator answers every poll: one that took too long, or that a bridge missed, shows only that this machine is busy. */
const withoutMissedPolls = (play: Play | null): Play | null => {
  if (play === null) return null;
  const { changes } = play.recording;
  const answered = changes.filter(({ seen }) => !('failure' in seen && seen.failure.kind === 'no-answer'));
  const records = play.records.map((record) => ({
    ...record,
    evidence: record.evidence.flatMap((word) => asSeenInTime(word, record.phase)),
  }));
  return { recording: { ...play.recording, changes: answered }, records };
};

/** A word of evidence as it would be without a gap between two polls. At the end of an event, its VM may have been off. */
function asSeenInTime(word: string, phase: string): readonly string[] {
  if (word === 'present-at-first-look') return ['said-by-azure'];
  return word === 'observation-gap' && phase === 'Started' ? [] : [word];
}

/** Null without a recording, and for one that cannot be read: `saveRecording` says why. */
function playOf({ recording, records }: Played): Play | null {
  if (recording === null) return null;
  try {
    return {
      recording: readRecording('the recording', recording),
      records: firstCopies(records).map(({ record }) => record),
    };
  } catch (error) {
    if (error instanceof InvalidInput) return null;
    throw error;
  }
}
