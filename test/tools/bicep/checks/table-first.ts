import { type Check, finding } from '../finding.ts';
import { type Project, resolvePath } from '../project.ts';
import { typeAndVersion } from '../resource-shape.ts';
import { type BicepFile, declared, type Expression, type Module, type Resource } from '../syntax.ts';
import { walk } from '../walk.ts';

type Maker = Resource | Module;
const ruleType = 'microsoft.insights/datacollectionrules';
const tableType = 'microsoft.operationalinsights/workspaces/tables';

/**
 * A data collection rule is made after the tables that it writes to. Nothing in it names them, so it must be said:
 * else the first deployment fails with InvalidOutputTable.
 */
export const tableFirst: Check = ({ file, scope, project }) => {
  const makers = makersIn(file);
  const tables = makers.filter((maker) => makes(maker, tableType, project, file)).map(({ name }) => name);
  const waits = (body: Expression): boolean => {
    const named = new Set<string>();
    walk(body, scope, (part) => {
      if (part.kind === 'name') named.add(part.name);
    });
    return tables.some((table) => named.has(table));
  };
  return makers
    .filter(({ name }) => tables.length > 0 && !tables.includes(name))
    .filter((maker) => makes(maker, ruleType, project, file) && !waits(maker.body))
    .map(({ name, line }) => {
      const what = `${name} makes a data collection rule and waits for no table: dependsOn: [${tables.join(', ')}]`;
      return finding(line, 'table-first', what);
    });
};

const makersIn = (file: BicepFile): Maker[] => [...declared(file, 'resource'), ...declared(file, 'module')];

/** Whether a resource has this type, or a module contains one that has. */
function makes(maker: Maker, type: string, project: Project, file: BicepFile, above: readonly string[] = []): boolean {
  if (maker.kind === 'resource') return !maker.existing && typeAndVersion(maker.typeName).type.toLowerCase() === type;
  const inside = project.file(resolvePath(file, maker.path));
  if (inside === null || above.includes(inside.path)) return false;
  return makersIn(inside).some((one) => makes(one, type, project, inside, [...above, file.path]));
}
