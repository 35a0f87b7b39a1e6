/** The candidate that `word` is most likely a slip or the beginning of; undefined when none is near. Letter case counts for nothing. */
export function closest(word: string, candidates: Iterable<string>): string | undefined {
  const most = Math.max(2, Math.floor(word.length / 4));
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of candidates) {
    const distance = slip(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= most && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { candidate, distance };
  }
  return best?.candidate;
}

function slip(word: string, candidate: string): number {
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
