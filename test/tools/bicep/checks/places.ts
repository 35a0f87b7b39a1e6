import { type Check, type Finding, finding } from '../finding.ts';
import { type Expression, plainText } from '../syntax.ts';
import { expressionsOf, walk } from '../walk.ts';

/**
 * Hosts that differ between the clouds of Azure; that of schemas is the same in all.
 * https://learn.microsoft.com/azure/azure-resource-manager/bicep/linter-rule-no-hardcoded-environment-urls
 */
const host =
  /\b(?!schema\.management\.azure\.com)([a-z0-9*-]+\.)*((windows|usgovcloudapi|chinacloudapi)\.(net|cn)|(azure|microsoftonline|microsoftazure)\.(com|cn|us|net))\b/i;

/** A location is never a literal (`westeurope`, `eastus2`), except for one that exists everywhere. */
const isRegion = (location: string): boolean => /^[a-z]+[0-9]?$/i.test(location) && location.toLowerCase() !== 'global';

/** A file says neither in which region nor in which cloud it is deployed. Parameter files do. */
export const places: Check = ({ file, scope }) => {
  if (file.path.endsWith('.bicepparam')) return [];
  const found: Finding[] = [];
  for (const statement of file.statements) {
    // Metadata for readers is not deployed.
    if (statement.kind === 'metadata') continue;
    for (const expression of expressionsOf(statement)) {
      walk(expression, scope, (part) => found.push(...cloudOf(part), ...regionOf(part)));
    }
  }
  return found;
};

function cloudOf(part: Expression): Finding[] {
  if (part.kind !== 'text') return [];
  const text = part.parts.map((one) => (typeof one === 'string' ? one : 'x')).join('');
  const found = host.exec(text)?.[0];
  if (found === undefined) return [];
  return [finding(part.line, 'no-hardcoded-env-urls', `${found} is of one cloud only: environment() knows the others`)];
}

function regionOf(part: Expression): Finding[] {
  if (part.kind !== 'object') return [];
  return part.entries.flatMap(({ key, value, line }) => {
    const location = key === 'location' ? plainText(value) : null;
    if (location === null || !isRegion(location)) return [];
    const what = `location: ${location} is a parameter, so that it can be deployed elsewhere`;
    return [finding(line, 'no-hardcoded-location', what)];
  });
}
