import { type Deployed, declaredIn, deployedBy } from '../deployed.ts';
import { evaluateFile } from '../evaluate.ts';
import { type Check, type Finding, finding } from '../finding.ts';
import { objectOf, typeAndVersion } from '../resource-shape.ts';
import { breach, valuesAt } from '../rule-breach.ts';
import type { Scope } from '../scope.ts';
import { type ServiceRule, serviceRules, type When } from '../service-rules.ts';
import { type BicepFile, declared, type Entry, type Expression, type Resource } from '../syntax.ts';

/**
 * What a service refuses of a resource though its type allows it: in each file by itself, and in what a parameter file
 * comes to, where the values are known.
 */
export const services: Check = ({ file, scope }) => {
  if (!file.path.endsWith('.bicepparam')) {
    return breachesIn(scope).map(({ one, path, what }) => finding(lineAt(one.resource, path), 'service', what));
  }
  const known = new Map<string, readonly string[]>();
  return orNone(() => deployedBy(scope.project, file.path)).flatMap((one) => {
    const [path = ''] = one.at.split(':');
    const theirs = scope.project.scope(path);
    if (theirs === null) return [];
    // What is wrong for all parameters is reported for the file itself.
    const own = known.get(path) ?? breachesIn(theirs).map(({ what }) => what);
    known.set(path, own);
    return breaches(one, theirs)
      .filter(({ what }) => !own.includes(what))
      .map(({ what }): Finding => finding(1, 'service', `${one.at}: ${what}`));
  });
};

/** What is refused of the resources of a file, for all parameters. */
function breachesIn(scope: Scope) {
  const evaluation = evaluateFile(scope.project, scope.file.path, {}, 'lenient');
  const resources = orNone(() => declaredIn(scope.file, evaluation));
  return resources.flatMap((one) => breaches(one, scope).map((breach) => ({ one, ...breach })));
}

/** What cannot be evaluated is wrong in a way that another check says. */
function orNone(evaluate: () => Deployed[]): Deployed[] {
  try {
    return evaluate();
  } catch {
    return [];
  }
}

const rulesOf = (type: string): readonly ServiceRule[] =>
  serviceRules.filter((rule) => rule.type.toLowerCase() === type.toLowerCase());

function breaches({ type, body, parentBody, resource }: Deployed, scope: Scope): { path: string; what: string }[] {
  return rulesOf(type).flatMap(({ path, must, when, source }) => {
    if (when !== undefined && !applies(when, body, parentBody, resource, scope)) return [];
    return valuesAt(body, path).flatMap((value) => {
      const why = breach(value, must, body);
      return why === null ? [] : [{ path, what: `${resource.name}: ${path} ${why} (${source})` }];
    });
  });
}

function applies(when: When, body: unknown, parentBody: unknown, resource: Resource, scope: Scope): boolean {
  const { path, parent, targetScope, on } = when;
  if (targetScope !== undefined && targetScope !== targetOf(scope.file)) return false;
  if (on !== undefined && on !== scopedTo(resource, scope)) return false;
  return isThere(path, body) && isThere(parent, parentBody);
}

function isThere(wanted: When['path'], body: unknown): boolean {
  if (wanted === undefined) return true;
  const [value] = valuesAt(body, wanted[0]);
  return wanted[1] === 'given' ? value !== undefined : value === wanted[1];
}

export const targetOf = (file: BicepFile): string => declared(file, 'targetScope')[0]?.scope ?? 'resourceGroup';

/** Type of the resource that `scope` names, in lower case; null without one. */
export function scopedTo(resource: Resource, scope: Scope): string | null {
  const on = objectOf(resource.body)?.entries.find(({ key }) => key === 'scope')?.value;
  return on === undefined ? null : typeOfSymbol(on, scope);
}

function typeOfSymbol(on: Expression, scope: Scope): string | null {
  if (on.kind === 'index' || on.kind === 'sure') return typeOfSymbol(on.of, scope);
  if (on.kind === 'member' && on.by === '::') {
    const outer = on.of.kind === 'name' ? scope.declaration(on.of.name) : null;
    const inner =
      outer?.kind === 'resource' ? objectOf(outer.body)?.nested.find(({ name }) => name === on.name) : undefined;
    return outer?.kind === 'resource' && inner !== undefined
      ? `${typeAndVersion(outer.typeName).type}/${typeAndVersion(inner.typeName).type}`.toLowerCase()
      : null;
  }
  const statement = on.kind === 'name' ? scope.declaration(on.name) : null;
  return statement?.kind === 'resource' ? typeAndVersion(statement.typeName).type.toLowerCase() : null;
}

/** The line of what a path names, as far as it is written in the body itself. */
function lineAt({ line, body }: Resource, path: string): number {
  let at = line;
  let inside: Expression | null = objectOf(body);
  for (const part of path.split('.')) {
    if (inside?.kind !== 'object') break;
    const entry: Entry | undefined = inside.entries.find(({ key }) => key === part.replace(/\[\]$/, ''));
    if (entry === undefined) break;
    at = entry.line;
    inside = entry.value;
  }
  return at;
}
