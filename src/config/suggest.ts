/** The key or variable that an unknown name probably means. */

import { options, sections } from '../config.ts';
import { closest } from './did-you-mean.ts';
import { environmentName, environmentPrefix } from './options.ts';

const paths = [...options, ...sections].map(({ path }) => path).filter((path) => path !== '');

/** A key of the same section that it misspells, else an option or section that has this name elsewhere. */
export function suggestKey(path: string): string | undefined {
  const { section, key } = split(path);
  const siblings = paths.filter((known) => split(known).section === section);
  const near = closest(
    key,
    siblings.map((known) => split(known).key),
  );
  if (near !== undefined) return section === '' ? near : `${section}.${near}`;
  const sinks = paths.filter((known) => split(known).section === 'sinks').map((known) => split(known).key);
  const sink = section === '' ? closest(key, sinks) : undefined;
  if (sink !== undefined) return `sinks.${sink}`;
  return only((known) => known.endsWith(`.${path}`)) ?? only((known) => split(known).key === key);
}

/** A variable of the same section whose key it misspells, else one that ends like it. Underscores do not count. */
export function suggestVariable(name: string): string | undefined {
  const section = sections
    .map(({ path }) => (path === '' ? environmentPrefix : `${environmentName(path)}_`))
    .filter((prefix) => name.startsWith(prefix))
    .reduce((a, b) => (a.length > b.length ? a : b), environmentPrefix);
  const bare = (variable: string, prefix: string): string => variable.slice(prefix.length).replaceAll('_', '');
  const variables = options.map(({ path }) => environmentName(path));
  const below = new Map(
    variables.filter((known) => known.startsWith(section)).map((known) => [bare(known, section), known]),
  );
  const near = below.get(closest(bare(name, section), below.keys()) ?? '');
  return near ?? variables.find((known) => bare(known, environmentPrefix).endsWith(bare(name, environmentPrefix)));
}

function split(path: string): { readonly section: string; readonly key: string } {
  const dot = path.lastIndexOf('.');
  return { section: path.slice(0, Math.max(dot, 0)), key: path.slice(dot + 1) };
}

/** The path that this holds for; undefined where it holds for several. */
function only(isMeant: (path: string) => boolean): string | undefined {
  const [first, ...more] = paths.filter(isMeant);
  return more.length === 0 ? first : undefined;
}
