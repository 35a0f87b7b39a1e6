/** The path of a request's target, which is a path with a query, or a whole URL. Without a slash at the end. */
export function pathOf(target = ''): string {
  return target
    .replace(/^[a-z]+:\/\/[^/?]*/i, '')
    .replace(/[?#].*$/s, '')
    .replace(/\/$/, '');
}
