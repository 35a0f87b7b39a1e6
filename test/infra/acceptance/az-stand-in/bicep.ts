import { existsSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { root } from '../../../support/source-tree.ts';
import { evaluateFile } from '../../../tools/bicep/evaluate.ts';
import { createProject, type Project, resolvePath } from '../../../tools/bicep/project.ts';
import { type BicepFile, declared, type TypeSyntax } from '../../../tools/bicep/syntax.ts';

/** The Bicep files of the repository. */
export const createBicepProject = (): Project =>
  createProject((path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null), null);

/**
 * What the program `bicep` prints: a template with the parameters of the file and, instead of its resources, its path in `metadata`,
 * from which the stand-in for Azure reads the resources. https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-cli
 * @throws for a command that it does not know
 */
export function bicep(project: Project, args: readonly string[], directory: string): string {
  const [command, ...given] = args;
  if (command === '--version') return 'Bicep CLI version 0.40.2 (stand-in)\n';
  const file = relative(root, resolve(directory, given.find((word) => !word.startsWith('--')) ?? ''));
  if (command === 'lint') {
    templateOf(project, file);
    return JSON.stringify({ version: '2.1.0', runs: [{ tool: { driver: { name: 'bicep' } }, results: [] }] });
  }
  if (!given.includes('--stdout')) throw new Error(`the stand-in for Bicep only writes to stdout: ${args.join(' ')}`);
  if (command === 'build') return JSON.stringify(templateOf(project, file));
  if (command === 'build-params') {
    const parameters = project.file(file);
    const using = parameters === null ? undefined : declared(parameters, 'using')[0];
    if (parameters === null || using === undefined) throw new Error(`${file} is no parameter file`);
    return JSON.stringify({
      parametersJson: JSON.stringify({
        $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#',
        contentVersion: '1.0.0.0',
        parameters: valuesOf(project, parameters),
      }),
      templateJson: JSON.stringify(templateOf(project, resolvePath(parameters, using.path))),
    });
  }
  throw new Error(`the stand-in for Bicep does not know: bicep ${args.join(' ')}`);
}

function valuesOf(project: Project, file: BicepFile): object {
  const evaluation = evaluateFile(project, file.path, {});
  return Object.fromEntries(declared(file, 'assignment').map(({ name }) => [name, { value: evaluation.value(name) }]));
}

function templateOf(project: Project, path: string): object {
  const file = project.file(path);
  if (file === null) throw new Error(`there is no file ${path}`);
  const [fault] = file.errors;
  if (fault !== undefined) throw new Error(`${path}(${fault.line},1) : Error BCP000: ${fault.what}`);
  const scope = declared(file, 'targetScope')[0]?.scope ?? 'resourceGroup';
  return {
    $schema: schemas[scope],
    contentVersion: '1.0.0.0',
    metadata: { standIn: path },
    parameters: Object.fromEntries(
      declared(file, 'param').map(({ name, type, value, decorators }) => [
        name,
        {
          type: templateType(
            project,
            file,
            type,
            decorators.some((decorator) => decorator.name === 'secure'),
          ),
          ...(value === null ? {} : { defaultValue: '' }),
          ...(type.kind === 'nullable' ? { nullable: true } : {}),
        },
      ]),
    ),
    resources: [],
  };
}

/** https://learn.microsoft.com/azure/azure-resource-manager/templates/syntax#template-format */
const schemas: Readonly<Record<string, string>> = {
  resourceGroup: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
  subscription: 'https://schema.management.azure.com/schemas/2018-05-01/subscriptionDeploymentTemplate.json#',
  managementGroup: 'https://schema.management.azure.com/schemas/2019-08-01/managementGroupDeploymentTemplate.json#',
};

function templateType(project: Project, file: BicepFile, type: TypeSyntax, isSecure: boolean): string {
  switch (type.kind) {
    case 'nullable':
      return templateType(project, file, type.of, isSecure);
    case 'array':
    case 'tuple':
      return 'array';
    case 'literal':
      return typeof type.value === 'number' ? 'int' : typeof type.value === 'boolean' ? 'bool' : 'string';
    case 'union':
      return type.of[0] === undefined ? 'object' : templateType(project, file, type.of[0], isSecure);
    case 'name': {
      if (['string', 'int', 'bool', 'array', 'object'].includes(type.name)) {
        return isSecure && (type.name === 'string' || type.name === 'object') ? `secure${type.name}` : type.name;
      }
      const own = declared(file, 'type').find(({ name }) => name === type.name);
      if (own !== undefined) return templateType(project, file, own.type, isSecure);
      for (const { path, names } of declared(file, 'import')) {
        const imported = names.find(({ alias }) => alias === type.name);
        const from = imported === undefined ? null : project.file(resolvePath(file, path));
        const found = from === null ? undefined : declared(from, 'type').find(({ name }) => name === imported?.name);
        if (from !== null && found !== undefined) return templateType(project, from, found.type, isSecure);
      }
      throw new Error(`${file.path} has no type ${type.name}`);
    }
    default:
      return 'object';
  }
}
