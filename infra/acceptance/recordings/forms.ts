import { namePattern } from './name-pattern.ts';
import { eMail, guid, ipv4, ipv6 } from './patterns.ts';
import { anyDate } from './shift-dates.ts';
import { isAzureWord } from './vocabulary.ts';

/** The type of a value in a document, and for a text its form: never its content. Null for an empty one, which has no form. */
export function formOf(value: unknown): string | null {
  if (value === null) return 'null';
  if (Array.isArray(value)) return listForm(value);
  if (typeof value === 'number') return Number.isInteger(value) ? 'whole number' : 'number';
  return typeof value === 'string' ? textForm(value) : typeof value;
}

function listForm(list: readonly unknown[]): string | null {
  const forms = [...new Set(list.map(formOf))].filter((form) => form !== null);
  return forms.length === 0 ? null : `list of ${forms.sort().join(' or ')}`;
}

function textForm(text: string): string | null {
  if (text === '') return null;
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return `GUID in ${caseOf(text)}`;
  if (/^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text)) return 'RFC 1123 date';
  if (/^\d{4}-\d\d-\d\dT/.test(text))
    return `ISO 8601 date (${text.replaceAll(/\d+/g, (digits) => '0'.repeat(digits.length))})`;
  if (/^\d+$/.test(text)) return 'number as text';
  return text.startsWith('_') ? 'text with _ in front' : 'text';
}

/** Of digits only: lower case, as its pseudonym. */
function caseOf(text: string): string {
  if (text === text.toLowerCase()) return 'lower case';
  return text === text.toUpperCase() ? 'upper case' : 'both cases';
}

/**
 * The words of a sentence of Azure, in order; whatever differs from VM to VM (names, ids, addresses, dates, other words) as `…`.
 * @param names those of VMs and scale sets that may be in it.
 */
export function sentenceForm(text: string, names: readonly string[]): string {
  const longestFirst = [...names].sort((one, other) => other.length - one.length);
  const individual = [
    anyDate,
    eMail,
    guid,
    ipv4,
    ipv6,
    ...longestFirst.map((name) => new RegExp(namePattern(name), 'giu')),
  ];
  const general = individual.reduce((rest, pattern) => rest.replaceAll(pattern, ' … '), text);
  const words = general.match(/[\p{L}\p{N}\p{M}_-]+|…/gu) ?? [];
  const kept = words.map((word) => (isAzureWord(word) && !isPseudonym.test(word) ? word : '…'));
  return kept.filter((word, index) => word !== '…' || kept[index - 1] !== '…').join(' ');
}

const isPseudonym = /-\d+(_\w+)?$/;
