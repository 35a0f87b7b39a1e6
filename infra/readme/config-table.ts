import { type Option, observerFields, options, required } from '../../src/config.ts';

/** All options as a Markdown table, for the README. The many `observer.…` overrides are one row. */
export function configTable(): string {
  const overrides = new Set(observerFields.map((field) => `observer.${field}`));
  const rows = (options as readonly Option[]).filter(({ path }) => !overrides.has(path)).map(row);
  const afterTags = rows.findIndex((line) => line.startsWith('| `observer.tags`')) + 1;
  rows.splice(afterTags, 0, overridesRow());
  return ['| key | default | accepted | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function row({ path, accepts, fallback, meaning }: Option): string {
  return cells(`\`${path}\``, shownDefault(fallback), accepts.expects, meaning);
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

function shownDefault(fallback: unknown): string {
  if (fallback === required) return '*required*';
  if (fallback === null || fallback === undefined) return '-';
  if (fallback === '$stateDirectory')
    return '`/var/lib/scheduled-events-bridge`; Windows `%ProgramData%\\scheduled-events-bridge\\state`';
  return `\`${JSON.stringify(fallback)}\``;
}

function cells(...texts: readonly string[]): string {
  return `| ${texts.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`;
}
