import type { Must } from './service-rules.ts';

type Json = unknown;

/** A text of which only Azure knows a part. */
export const isOpaque = (value: Json): boolean => typeof value === 'string' && value.includes('«');

/** Every value at a path: `a.b`, and `[]` for each element of a list. Nothing where there is nothing, or null. */
export function valuesAt(body: Json, path: string): readonly Json[] {
  return path.split('.').reduce<readonly Json[]>(
    (values, part) => {
      const key = part.replace(/\[\]$/, '');
      const found = values.flatMap((value) =>
        typeof value === 'object' && value !== null ? [Reflect.get(value, key)] : [],
      );
      const given = found.filter((value) => value !== undefined && value !== null);
      return part.endsWith('[]') ? given.flatMap((value) => (Array.isArray(value) ? value : [value])) : given;
    },
    [body],
  );
}

/** Why a value is not what it must be; null when it is, or when only Azure knows. */
export function breach(value: Json, must: Must, body: Json): string | null {
  if ('is' in must) return value === must.is ? null : `must be ${must.is}`;
  if ('isNot' in must) return value === must.isNot ? `cannot be ${must.isNot}` : null;
  if ('maxLength' in must) return shortest(value) > must.maxLength ? `has ${must.maxLength} characters at most` : null;
  if (isOpaque(value)) return null;
  if ('oneOf' in must) return must.oneOf.includes(String(value)) ? null : `must be one of ${must.oneOf.join(', ')}`;
  if ('matches' in must) return new RegExp(must.matches).test(String(value)) ? null : `must match ${must.matches}`;
  if ('contains' in must) {
    const missing = must.contains.filter((part) => !String(value).includes(part));
    return missing.length === 0 ? null : `must contain ${missing.join(', ')}`;
  }
  if ('min' in must) return Number(value) < must.min ? `must be ${must.min} at least` : null;
  if ('max' in must) return Number(value) > must.max ? `must be ${must.max} at most` : null;
  if ('atLeast' in must) {
    const [other] = valuesAt(body, must.atLeast);
    return other !== undefined && !isOpaque(other) && quantity(value) < quantity(other)
      ? `must be ${other} at least, as ${must.atLeast}`
      : null;
  }
  if ('hasOneOf' in must) {
    const has = must.hasOneOf.some((key) => valuesAt(value, key).length > 0);
    return has ? null : `must have one of ${must.hasOneOf.join(', ')}`;
  }
  const known = must.among.flatMap((path) => valuesAt(body, path));
  return known.includes(value) || known.some(isOpaque)
    ? null
    : `must be one of ${known.join(', ')}: ${must.among.join(', ')}`;
}

/** A number, or the seconds of a duration such as PT5M or P1D. */
function quantity(value: Json): number {
  const [, days = 0, hours = 0, minutes = 0] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/.exec(String(value)) ?? [];
  return typeof value === 'number' ? value : Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60;
}

/** The fewest characters that a text can have: one for each part that only Azure knows. */
const shortest = (value: Json): number => String(value).replaceAll(/«[^»]*»/g, 'x').length;
