import { type Check, type Finding, finding } from '../finding.ts';
import { resolvePath } from '../project.ts';
import type { Scope } from '../scope.ts';
import { hint } from '../shape.ts';
import { declared, type TypeSyntax, typesIn } from '../syntax.ts';
import { plainTypes } from '../type-shape.ts';
import { lacks } from './names.ts';

/** Every type that is named exists, and what is imported is exported where it comes from. */
export const typesExist: Check = ({ file, scope }) => [
  ...file.statements.flatMap((statement) => {
    if (statement.kind === 'func') {
      return [...statement.takes.map(({ type }) => type), statement.gives].flatMap((type) => missing(type, scope));
    }
    return 'type' in statement ? missing(statement.type, scope) : [];
  }),
  ...imports(scope),
];

function missing(type: TypeSyntax, scope: Scope): Finding[] {
  if (type.kind === 'name') {
    if (plainTypes.includes(type.name) || scope.type(type.name) !== null) return [];
    const known = [...plainTypes, ...scope.names()];
    return [finding(type.line, 'BCP302', `there is no type ${type.name}${hint(type.name, known)}`)];
  }
  const inside = typesIn(type).flatMap((inner) => missing(inner, scope));
  if (inside.length > 0 || type.kind !== 'member' || type.of.kind !== 'name' || type.name === '[]') return inside;
  const shape = scope.type(type.of.name);
  const reason = shape === null ? null : lacks(shape, type.name);
  return reason === null ? [] : [finding(type.line, 'BCP053', reason)];
}

function imports({ file, project }: Scope): Finding[] {
  return declared(file, 'import').flatMap(({ path, names, line }) => {
    const from = project.file(resolvePath(file, path));
    if (from === null) return [finding(line, 'BCP091', `there is no file ${path}`)];
    // What cannot be read is found there.
    if (from.errors.length > 0) return [];
    const exported = from.statements.flatMap((statement) =>
      'decorators' in statement && statement.decorators.some(({ name }) => name === 'export') ? [statement.name] : [],
    );
    return names
      .filter(({ name }) => name !== '*' && !exported.includes(name))
      .map(({ name }) => finding(line, 'BCP360', `${path} exports no ${name}${hint(name, exported)}`));
  });
}
