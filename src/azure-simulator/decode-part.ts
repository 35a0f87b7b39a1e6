/** A part of a URL, decoded; null where a percent sign stands for nothing. */
export function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
