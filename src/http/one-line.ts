/** Foreign text on one line of at most `most` characters, for a message. */
export const oneLine = (text: string, most = 200): string =>
  text
    .trimStart()
    .slice(0, 2 * most)
    .replace(/\s+/g, ' ')
    .trimEnd()
    .slice(0, most);
