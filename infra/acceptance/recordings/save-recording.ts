import { InvalidInput } from '../../../src/azure-simulator/read-fields.ts';
import type { StepContext } from '../step.ts';
import { anonymise } from './anonymise.ts';
import { namesIn } from './names.ts';
import { findLeaks } from './scan.ts';
import { isAzureWord } from './vocabulary.ts';

/**
 * Saves the recording of a scenario without names, ids and addresses as `recordings/<scenario>.jsonl` in the folder of the run, ready for
 * `test/fixtures/recordings/`. Where it cannot be read, or the scanner still finds one of these, nothing is saved, and a line says so.
 * @returns its path relative to the folder; null if it was not saved.
 */
export function saveRecording(
  { save, say, run, found }: Pick<StepContext, 'save' | 'say' | 'run' | 'found'>,
  scenario: string,
  recording: string,
): string | null {
  const known = namesIn(run, found);
  let text: string;
  try {
    text = anonymise(recording, known).text;
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    say(`The recording of ${scenario} is not saved without names, because it cannot be read: ${error.message}.`);
    return null;
  }
  // A hub that is called events would be found in every document.
  const individual = known.map(({ name }) => name).filter((name) => !isAzureWord(name));
  const leaks = findLeaks(text, [run.id, run.subscription, ...individual]);
  if (leaks.length === 0) return save(`recordings/${scenario}.jsonl`, text);
  const places = leaks.map(({ line, rule }) => `line ${line}: ${rule}`).join(', ');
  say(`The recording of ${scenario} is not saved: without names it would still have ${places}.`);
  return null;
}
