import { type Change, isObject, isSame, type RecordedAnswer, writeChange } from '../../../src/recording/format.ts';

/**
 * One recording from several of one VM, in the order in which they were begun: `record` writes a new file at each start, so a VM that restarts
 * leaves several. Times count from the beginning of the first. A last line that was cut off is left out. Null if none has a complete header.
 */
export function joinRecordings(texts: readonly string[]): string | null {
  const parts = texts.flatMap((text) => partOf(text) ?? []).sort((a, b) => a.begunMs - b.begunMs);
  const [first] = parts;
  if (first === undefined) return null;
  const changes = parts.flatMap(({ begunMs, changes }) => {
    const later = (begunMs - first.begunMs) / 1000;
    return changes.map(({ atSeconds, seen }) => ({ atSeconds: roundToMs(atSeconds + later), seen }));
  });
  const kept: Change[] = [];
  for (const change of changes) {
    const last = kept.at(-1);
    if (last === undefined) kept.push(change);
    else if (!isSame(last.seen, change.seen))
      kept.push({ ...change, atSeconds: Math.max(change.atSeconds, last.atSeconds) });
  }
  return `${first.header}\n${kept.map(writeChange).join('')}`;
}

interface Part {
  readonly header: string;
  readonly begunMs: number;
  readonly changes: readonly Change[];
}

function partOf(text: string): Part | null {
  const [header = '', ...lines] = text.split('\n');
  const value = parsed(header);
  if (!isObject(value) || typeof value.begunAt !== 'string') return null;
  const changes = lines.flatMap((line): Change[] => {
    const change = parsed(line);
    if (!isObject(change) || typeof change.atSeconds !== 'number') return [];
    const { atSeconds, ...seen } = change;
    return [{ atSeconds, seen: seen as unknown as RecordedAnswer }];
  });
  return { header, begunMs: Date.parse(value.begunAt), changes };
}

const roundToMs = (seconds: number): number => Math.round(seconds * 1000) / 1000;

/** Undefined when it is not JSON. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
