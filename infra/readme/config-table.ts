import type { Option } from '../../src/config/options.ts';
import { observerFields, options } from '../../src/config.ts';

/** All options as a Markdown table, for the README. The many `observer.…` overrides are one row. */
export function configTable(): string {
  const overrides = new Set(observerFields.map((field) => `observer.${field}`));
  const rows = options.filter(({ path }) => !overrides.has(path)).map(row);
  const afterTags = rows.findIndex((line) => line.startsWith('| `observer.tags`')) + 1;
  rows.splice(afterTags, 0, overridesRow());
  return ['| key | default | accepted | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function row(option: Option): string {
  return cells(`\`${option.path}\``, shownDefault(option), option.expects, option.meaning);
}

function overridesRow(): string {
  const names = observerFields.map((field) => `\`${field}\``).join(' ');
  return cells(
    '`observer.<field>`',
    '-',
    'text that is not empty',
    `Overrides this field of the instance metadata: ${names}`,
  );
}

function shownDefault({ fallback, isRequired }: Option): string {
  if (isRequired) return '*required*';
  return fallback === null || fallback === undefined ? '-' : `\`${JSON.stringify(fallback)}\``;
}

function cells(...texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}
