import { options } from '../config.ts';
import { samplesOf } from './schema.ts';

/** A sink, as far as its configuration goes. */
interface ConfigurableSink {
  readonly key: string;
  readonly section: Parameters<typeof samplesOf>[0];
}

/** A configuration to begin with. */
export interface Sample {
  readonly document: object;
  /** A secret belongs in it. */
  readonly holdsSecret: boolean;
}

/** The location of the JSON Schema, so that editors complete the file. */
export const schemaFile = 'configuration.v1.json';

/** The ways to authenticate that a sink knows, the usual one first; empty where it needs none. */
export const authenticationsOf = ({ section }: ConfigurableSink): readonly string[] =>
  Object.keys(samplesOf(section)).filter((name) => name !== 'none');

/**
 * A configuration with these sinks, each authenticating as asked where it can, else in its usual way. The meaning of each key
 * is in `$comment` beside it.
 */
export function sampleConfiguration(sinks: readonly ConfigurableSink[], authentication: string | null): Sample {
  const chosen = sinks.map((sink) => {
    const samples = samplesOf(sink.section);
    const name = authentication !== null && authentication in samples ? authentication : Object.keys(samples)[0];
    return { key: sink.key, name, values: samples[name ?? ''] ?? {} };
  });
  const isByIdentity = chosen.some(({ name }) => name === 'managed-identity');
  const sections = chosen.map(({ key, values }) => [key, { ...commentOn(`sinks.${key}`, values), ...values }]);
  // A sink without keys has no line for a comment.
  const leaves = chosen.flatMap(({ key }) => {
    const option = optionAt(`sinks.${key}`);
    return option ? [`${key}: ${option.meaning}`] : [];
  });
  return {
    document: {
      $schema: `./${schemaFile}`,
      $comment: [
        ...(chosen.some(({ values }) => Object.keys(values).length > 0) ? [replace] : []),
        'Omitted keys use their defaults.',
        'scheduled-events-bridge check --config <this file> reports its problems and how to fix them.',
      ],
      sinks: { ...(leaves.length > 0 && { $comment: leaves }), ...Object.fromEntries(sections) },
      ...(isByIdentity && { identity: { ...commentOn('identity', { clientId: null }), clientId: null } }),
    },
    holdsSecret: chosen.some(({ key, values }) =>
      Object.entries(values).some(([name, value]) => optionAt(`sinks.${key}.${name}`)?.isSecret?.(value)),
    ),
  };
}

const replace = 'Replace the words in capitals and the id dcr-ffff…; the bridge does not start until you do.';

const optionAt = (path: string) => options.find((option) => option.path === path);

/** What each of these keys means, and which others the section takes. */
function commentOn(section: string, values: object): { readonly $comment?: readonly string[] } {
  const own = options.filter(({ path }) => path.startsWith(`${section}.`));
  if (own.length === 0) return {};
  const keyOf = (path: string): string => path.slice(section.length + 1);
  const here = own.filter(({ path }) => keyOf(path) in values);
  const others = own.filter(({ path }) => !(keyOf(path) in values)).map(({ path }) => keyOf(path));
  return {
    $comment: [
      ...here.map(({ path, meaning }) => `${keyOf(path)}: ${meaning}`),
      ...(others.length > 0 ? [`Other keys: ${others.join(', ')}`] : []),
    ],
  };
}
