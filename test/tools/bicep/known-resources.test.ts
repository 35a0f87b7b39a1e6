import { expect, test } from 'vitest';
import { azureShapes, describedIn } from './azure-shapes.ts';
import { bicepFiles, textOf } from './files.ts';
import { knownBody, knownResources, scopeBits } from './known-resources.ts';
import { createProject } from './project.ts';
import { objectOf, typeAndVersion } from './resource-shape.ts';
import { sample, samplePaths } from './sample.ts';
import { membersOf, type ObjectShape, type Property, type Shape } from './shape.ts';
import { declared, type Resource } from './syntax.ts';

const azure = azureShapes();
const rows = Object.entries(knownResources).flatMap(([type, { versions }]) =>
  versions.map((version) => ({ type, version })),
);

/** The objects that a shape may be, lists of them and their cases included. */
function objectsIn(shape: Shape): readonly ObjectShape[] {
  return membersOf(shape).flatMap((member) => {
    if (member.kind === 'object')
      return member.rest !== null && member.properties.size === 0 ? objectsIn(member.rest) : [member];
    if (member.kind === 'array') return objectsIn(member.of);
    return member.kind === 'tagged' ? [...member.cases.values()].flatMap(objectsIn) : [];
  });
}

/** Where what is known here differs from what Azure describes. Of properties that depend on a kind, one kind is enough. */
function differences(known: Shape, described: Shape, where: string): string[] {
  const cases = objectsIn(described);
  return objectsIn(known).flatMap((own) => [
    ...[...own.properties].flatMap(([name, property]) => {
      const theirs = cases.flatMap((one): Property[] => {
        const found = one.properties.get(name);
        return found === undefined ? [] : [found];
      });
      if (theirs.length === 0) return [`${where}.${name} does not exist`];
      const fits = theirs.filter((one) => one.required === property.required && one.readOnly === property.readOnly);
      if (fits.length === 0) return [`${where}.${name} is required or read-only in one place only`];
      const inner = fits.map((one) => differences(property.shape, one.shape, `${where}.${name}`));
      return inner.sort((a, b) => a.length - b.length)[0] ?? [];
    }),
    ...(cases.every((one) => [...one.properties].some(([name, { required }]) => required && !own.properties.has(name)))
      ? [`${where} lacks a property that is required`].slice(0, cases.length)
      : []),
  ]);
}

test.for(rows)('$type at $version is known here as Azure describes it', ({ type, version }, { skip }) => {
  skip(azure === null, `Azure's own descriptions are not at ${describedIn}`);
  const [known, described] = [knownBody(type, version), azure?.body(type, version) ?? null];
  expect(described, 'Azure describes no such version').not.toBeNull();
  if (known !== null && described !== null) expect(differences(known, described, type)).toEqual([]);
});

test.for(rows)('$type at $version is deployed where Azure allows it', ({ type, version }, { skip }) => {
  skip(azure === null, `Azure's own descriptions are not at ${describedIn}`);
  const { scopes = ['resourceGroup'] } = knownResources[type] ?? {};
  expect(scopes.reduce((sum, scope) => sum + scopeBits[scope], 0)).toBe(azure?.scopes(type, version));
});

test('a preview version is used only when no other has what is used', () => {
  expect(rows.filter(({ version }) => version.includes('preview')).map(({ type }) => type)).toEqual([
    'Microsoft.Insights/diagnosticSettings',
    'Microsoft.Insights/privateLinkScopes/scopedResources',
    'microsoft.insights/privateLinkScopes',
  ]);
});

test('every known resource is used somewhere, at each of its versions', () => {
  const project = createProject((path) => sample[path] ?? textOf(path), null);
  const used = new Set<string>();
  const use = ({ typeName, body }: Resource, parent: string | null): void => {
    const own = typeAndVersion(typeName);
    const above = parent === null ? null : typeAndVersion(parent);
    const whole = above === null ? typeName : `${above.type}/${own.type}@${own.version || above.version}`;
    used.add(whole.toLowerCase());
    for (const nested of objectOf(body)?.nested ?? []) use(nested, whole);
  };
  for (const path of [...bicepFiles(), ...samplePaths]) {
    const file = project.file(path);
    if (file !== null) for (const resource of declared(file, 'resource')) use(resource, null);
  }
  expect(rows.map(({ type, version }) => `${type}@${version}`).filter((row) => !used.has(row.toLowerCase()))).toEqual(
    [],
  );
});
