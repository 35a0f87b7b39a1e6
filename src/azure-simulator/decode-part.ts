/** A part of a URL, decoded; null when a percent sign encodes nothing. */
export function decodePart(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
