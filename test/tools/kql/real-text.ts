import { unsupported } from './unsupported.ts';

/**
 * A real as Kusto's `tostring` writes it: always with a point. Its last digits differ from the shortest form (0.1 + 0.2
 * ends in 7 there), so a number that needs 17 digits is refused, and so is one that needs an exponent.
 */
export function realText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  const digits = text.replace(/[-.]/g, '').replace(/^0+/, '');
  if (text.includes('e') || digits.length > 16) return unsupported(`the text of the real ${value}`);
  return text.includes('.') ? text : `${text}.0`;
}
