import { relative, resolve } from 'node:path';
import { root } from '../../support/source-tree.ts';
import { azureShapes, describedIn } from './azure-shapes.ts';
import { check } from './check.ts';
import { bicepFiles, textOf } from './files.ts';
import { createProject } from './project.ts';
import { createSecondReader } from './second-reader.ts';

// node test/tools/bicep/main.ts [files…]: what is wrong in them, a line each; without files, in all there are.
const azure = azureShapes();
if (azure === null)
  process.stderr.write(`Azure's own descriptions are not at ${describedIn}: only the known resources are checked\n`);
const asked = process.argv.slice(2).map((path) => relative(root, resolve(path)).replaceAll('\\', '/'));
const paths = asked.length === 0 ? bicepFiles() : asked;
const findings = check(createProject(textOf, azure), await createSecondReader(), paths);
for (const finding of findings) process.stdout.write(`${finding}\n`);
process.stderr.write(`${paths.length} files, ${findings.length} findings\n`);
process.exitCode = findings.length === 0 ? 0 : 1;
