import { parse as parseYaml } from 'yaml';
import { type Check, type Finding, finding } from '../finding.ts';
import { resolvePath } from '../project.ts';
import type { Scope } from '../scope.ts';
import { type Expression, plainText } from '../syntax.ts';
import { walkFile } from '../walk.ts';

/** Files that are loaded are there, and are what they are loaded as; and no bracket is escaped that Bicep escapes itself. */
export const loads: Check = ({ file, scope }) => {
  const found: Finding[] = [];
  walkFile(file, scope, (expression) => {
    const text = plainText(expression) ?? '';
    if (text.startsWith('[[')) found.push(finding(expression.line, 'double-bracket', escaped(text)));
    if (expression.kind === 'call' && /^load/.test(expression.name)) found.push(...load(expression, scope));
  });
  return found;
};

const escaped = (text: string): string => `${text.slice(0, 20)}…: one bracket, Bicep writes the second`;

function load({ name, given, line }: Extract<Expression, { kind: 'call' }>, { file, project }: Scope): Finding[] {
  const path = plainText(given[0]);
  if (path === null) return [finding(line, 'BCP032', `${name}() takes a path that is written out`)];
  const text = project.text(resolvePath(file, path));
  if (text === null) return [finding(line, 'BCP091', `there is no file ${path}`)];
  const most = sizes[name];
  if (most !== undefined && text.length > most) {
    return [finding(line, 'BCP184', `${path} has ${text.length} characters, and ${name}() takes ${most}`)];
  }
  return faultsIn(name, text).map((what) => finding(line, 'BCP186', `${path}: ${what}`));
}

/** Characters of a file: https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-functions-files */
const sizes: Readonly<Record<string, number>> = {
  loadTextContent: 131_072,
  loadJsonContent: 1_048_576,
  loadYamlContent: 1_048_576,
};

function faultsIn(name: string, text: string): string[] {
  const parse = parsers[name];
  if (parse === undefined) return [];
  try {
    return doubleBrackets(parse(text)).map(escaped);
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  loadJsonContent: (text) => JSON.parse(text),
  loadYamlContent: (text) => parseYaml(text),
};

function doubleBrackets(value: unknown): string[] {
  if (typeof value === 'string') return value.startsWith('[[') ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(doubleBrackets) : [];
}
