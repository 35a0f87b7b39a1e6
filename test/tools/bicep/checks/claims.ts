import type { Check, Finding } from '../finding.ts';
import { mismatches } from '../fits.ts';
import { any } from '../shape.ts';
import { shapeOfType } from '../type-shape.ts';

/** Outputs, defaults and results of functions have the type that they claim. */
export const claims: Check = ({ file, scope }) =>
  file.statements.flatMap((statement): Finding[] => {
    if (statement.kind === 'output' || (statement.kind === 'param' && statement.value !== null)) {
      const claimed = shapeOfType(statement.type, scope, statement.decorators);
      return statement.value === null ? [] : mismatches(statement.value, claimed, statement.name, scope);
    }
    if (statement.kind !== 'func') return [];
    const own = scope.func(statement.name);
    const locals = new Map(statement.takes.map(({ name }, n) => [name, own?.takes[n] ?? any]));
    return mismatches(statement.body, own?.gives ?? any, statement.name, scope.with(locals));
  });
