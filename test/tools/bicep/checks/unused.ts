import { type Check, finding } from '../finding.ts';
import { declared, type TypeSyntax, typesIn } from '../syntax.ts';
import { walkFile } from '../walk.ts';

/** What may stand unused in a file, by what the linter calls it. */
const codes: Readonly<Record<string, string>> = {
  param: 'no-unused-params',
  var: 'no-unused-vars',
  resource: 'no-unused-existing-resources',
  type: 'no-unused-types',
  func: 'no-unused-functions',
};

/** What is declared is used, or exported. */
export const unused: Check = ({ file, scope }) => {
  const used = new Set<string>();
  walkFile(file, scope, (expression) => {
    if (expression.kind === 'name' || (expression.kind === 'call' && expression.on === null)) used.add(expression.name);
  });
  for (const statement of file.statements) {
    if ('type' in statement) useTypes(statement.type, used);
    if (statement.kind === 'func') useTypes(statement.gives, used);
    if (statement.kind === 'func') for (const { type } of statement.takes) useTypes(type, used);
  }
  const imported = declared(file, 'import').flatMap(({ names, line }) =>
    names.map(({ alias }) => ({ name: alias, line, code: 'no-unused-imports' })),
  );
  const own = file.statements.flatMap((statement) => {
    const code = codes[statement.kind];
    if (code === undefined || !('decorators' in statement)) return [];
    if (statement.kind === 'resource' && !statement.existing) return [];
    if (statement.decorators.some(({ name }) => name === 'export')) return [];
    return [{ name: statement.name, line: statement.line, code }];
  });
  return [...own, ...imported]
    .filter(({ name }) => !used.has(name))
    .map(({ name, line, code }) => finding(line, code, `${name} is not used`));
};

function useTypes(type: TypeSyntax, used: Set<string>): void {
  if (type.kind === 'name') used.add(type.name);
  for (const inner of typesIn(type)) useTypes(inner, used);
}
