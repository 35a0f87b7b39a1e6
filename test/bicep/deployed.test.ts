import { expect, test } from 'vitest';
import { azureShapes, describedIn } from '../support/bicep/azure-shapes.ts';
import { deployedBy, expressionOf } from '../support/bicep/deployed.ts';
import { bicepFiles, textOf } from '../support/bicep/files.ts';
import { misfits } from '../support/bicep/fits.ts';
import { createProject } from '../support/bicep/project.ts';

const azure = azureShapes();
const project = createProject(textOf, azure);
const parameterFiles = bicepFiles().filter((path) => path.endsWith('.bicepparam'));

/** Bicep reads these itself. */
const ofBicep = ['parent', 'scope', 'dependsOn'];

/** What Azure would refuse of what a parameter file deploys. What a file disables with a reason is left out. */
function refused(parameterFile: string): string[] {
  return deployedBy(project, parameterFile).flatMap(({ at, type, version, body }) => {
    const [path = ''] = at.split(':');
    const shape = azure?.body(type, version);
    const scope = project.scope(path);
    if (shape === undefined || shape === null || scope === null) return [`${at}: ${type}@${version} is not described`];
    const own = Object.fromEntries(Object.entries(body).filter(([key]) => !ofBicep.includes(key)));
    const disabled = scope.file.pragmas.flatMap(({ codes }) => codes);
    return misfits(expressionOf(own), shape, `${type} ${body.name}`, scope)
      .filter(({ code }) => !disabled.includes(code))
      .map(({ what }) => `${at}: ${what}`);
  });
}

test.for(parameterFiles)('Azure takes every resource that %s comes to: names, lengths, values', (path, { skip }) => {
  skip(azure === null, `Azure's own descriptions are not at ${describedIn}`);
  expect(deployedBy(project, path).length).toBeGreaterThan(0);
  expect(refused(path)).toEqual([]);
});

test.for(parameterFiles)('no two resources that %s deploys have the same name', (path) => {
  const names = deployedBy(project, path)
    .filter(({ body }) => body.parent === undefined && body.scope === undefined)
    .map(({ type, body }) => `${type} ${body.name}`);
  expect(names.filter((name, n) => names.indexOf(name) !== n)).toEqual([]);
});
