import { type Answer, json } from './answer.ts';

/**
 * The part of the instance metadata that the rest of the path leads to, as JSON or, with `format=text`, as plain text: a value as it
 * is, an object or a list as its keys, one a line, those that lead on with a slash.
 * https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#route-parameters
 *
 * @param keys decoded parts of the path; null where one could not be decoded.
 */
export function answerPart(metadata: object, keys: readonly (string | null)[], format: string): Answer {
  let part: unknown = metadata;
  for (const key of keys) {
    const owner = typeof part === 'object' && part !== null ? part : {};
    if (key === null || !Object.hasOwn(owner, key)) return json(404, { error: 'Not found' });
    part = (owner as Readonly<Record<string, unknown>>)[key];
  }
  if (format !== 'json' && format !== 'text') return badFormat(`format ${format} is unknown: json or text`);
  const isLeaf = typeof part !== 'object' || part === null;
  if (format === 'json') return isLeaf ? badFormat('a single value needs format=text') : json(200, part);
  const text = isLeaf
    ? String(part)
    : Object.entries(part as object)
        .map(([key, value]) => lineOf(key, value))
        .join('\n');
  return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8' }, body: text };
}

const lineOf = (key: string, value: unknown): string => (typeof value === 'object' && value !== null ? `${key}/` : key);

const badFormat = (why: string): Answer => json(400, { error: `Bad request. ${why}` });
