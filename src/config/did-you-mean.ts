/** The candidate that `word` most likely misspells or abbreviates; undefined when none is close. Ignores letter case. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const maxDistance = Math.max(2, Math.floor(word.length / 4));
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = distanceTo(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= maxDistance && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { candidate, distance };
  }
  return best?.candidate;
}

/** An abbreviation is close, regardless of its length. */
function distanceTo(word: string, candidate: string): number {
  return candidate.startsWith(word) ? Math.min(1, candidate.length - word.length) : editDistance(word, candidate);
}

/** Least number of letters inserted, removed or replaced (Levenshtein), one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
