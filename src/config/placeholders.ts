/** Placeholders in a sample of `config init` for what only the user knows: capital letters, or an id of the letter f (an id of zeros is the simulator's). */
const placeholder = /(?<![A-Za-z0-9])([A-Z]{3,}(?:-\d)?|f{32})(?![A-Za-z0-9])/g;

/** The placeholders of one key's samples that are left in its value: with the same characters around them, lest a key in Base64 has one. */
export function placeholdersLeft(key: string, value: unknown, samples: readonly object[]): readonly string[] {
  if (typeof value !== 'string') return [];
  const left = samples.flatMap((sample) => {
    const text: unknown = Object.entries(sample).find(([name]) => name === key)?.[1];
    if (typeof text !== 'string') return [];
    const found = [...text.matchAll(placeholder)].map(({ 0: word, index }) => {
      const before = index === 0 ? '^' : RegExp.escape(text[index - 1] ?? '');
      const after = text[index + word.length];
      return { word, whole: new RegExp(before + RegExp.escape(word) + (after ? RegExp.escape(after) : '$')) };
    });
    return found.filter(({ whole }) => whole.test(value)).map(({ word }) => word);
  });
  return [...new Set(left)];
}
