import { toJsonSchema } from '@valibot/to-json-schema';
import { environmentName, type Option, type SectionOf } from '../../src/config/options.ts';
import { options, sections } from '../../src/config.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * What a configuration file may hold, as JSON Schema, for editors and other tools. It describes a file that is complete by itself.
 * The bridge checks four things more: that an EntityPath in a connection string is the configured event hub, that the host in a URL
 * is a possible one, that others cannot read a file with a secret in it, and that no placeholder of `config init` is left.
 */
export function configurationSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:scheduled-events-bridge:configuration:v1',
    title: 'Configuration of scheduled-events-bridge',
    description:
      'A file that is complete by itself. What environment variables set may be missing in it, even where this schema requires it.',
    ...sectionSchema(sectionAt('')),
    $defs: { comment: { type: ['string', 'array', 'null'], items: { type: 'string' } } },
  };
}

function sectionSchema({ path, keys, isOptional, rules }: SectionOf): JsonSchema {
  const inner = keys.map((key) => ({ key, at: path ? `${path}.${key}` : key }));
  const properties = inner.map(({ key, at }) => {
    const option = options.find((one) => one.path === at);
    return [key, option ? optionSchema(option) : sectionSchema(sectionAt(at))] as const;
  });
  const required = inner.filter(({ at }) => isNeeded(at)).map(({ key }) => key);
  const conditions = [
    ...rules.flatMap(({ jsonSchema }) => jsonSchema ?? []),
    ...(path === ''
      ? sections.flatMap((section) => section.rules).flatMap(({ jsonSchemaOfAll }) => jsonSchemaOfAll ?? [])
      : []),
  ];
  const mayBeNull = isOptional || !(path === '' || isNeeded(path));
  return {
    type: mayBeNull ? ['object', 'null'] : 'object',
    ...(conditions.length > 0 &&
      (mayBeNull ? { anyOf: [{ type: 'null' }, { allOf: conditions }] } : { allOf: conditions })),
    ...(required.length > 0 && { required }),
    properties: {
      ...(path === '' && {
        $schema: { type: ['string', 'null'], description: 'The address of this schema, for editors' },
      }),
      $comment: { $ref: '#/$defs/comment' },
      ...Object.fromEntries(properties),
    },
    // Null counts as not there, under every key.
    additionalProperties: { type: 'null' },
  };
}

/** Required wherever its section is: an option without default, and a section whose rules cannot hold where it is missing. */
function isNeeded(path: string): boolean {
  const section = sections.find((one) => one.path === path);
  if (section) return !section.isOptional && section.rules.some(({ jsonSchema }) => jsonSchema !== undefined);
  return options.some((option) => option.path === path && option.isRequired);
}

function sectionAt(path: string): SectionOf {
  const section = sections.find((one) => one.path === path);
  if (!section) throw new Error(`there is no section ${path}`);
  return section;
}

/** Null counts as not set, so that it stands for the default, if there is one. */
function optionSchema({ path, meaning, expects, fallback, isRequired, kind }: Option): JsonSchema {
  const made = toJsonSchema(kind, {
    target: 'draft-2020-12',
    typeMode: 'input',
    ignoreActions: ['check', 'transform'],
    // The one that accepts only an empty object.
    overrideSchema: ({ valibotSchema }) =>
      valibotSchema.type === 'custom' ? { type: 'object', maxProperties: 0 } : undefined,
  });
  const values = Object.fromEntries(Object.entries(made).filter(([key]) => key !== '$schema' && key !== 'expects'));
  return {
    description: `${meaning}. Expected: ${expects}. Environment variable: ${environmentName(path)}`,
    ...(isRequired ? values : orNull(values)),
    ...(fallback !== undefined && fallback !== null && { default: fallback }),
  };
}

function orNull({ type, enum: values, anyOf, ...rest }: JsonSchema): JsonSchema {
  return {
    ...rest,
    ...(type !== undefined && { type: [type, 'null'] }),
    ...(Array.isArray(values) && { enum: [...values, null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...anyOf, { type: 'null' }] }),
  };
}
