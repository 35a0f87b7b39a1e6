import { loadLanguageService } from '../../kql/language-service.ts';
import { transformProblems } from '../../kql/transform.ts';
import { declaredIn } from '../deployed.ts';
import { evaluateFile } from '../evaluate.ts';
import { type Check, finding } from '../finding.ts';
import { isOpaque, valuesAt } from '../rule-breach.ts';

interface Flow {
  readonly streams: readonly string[];
  readonly transformKql?: string;
}
interface Column {
  readonly name: string;
  readonly type: string;
}

/** Transformations of data collection rules are queries that give the columns of their stream: a rule's tables have the same. */
export const transforms: Check = ({ file, scope }) => {
  if (!/dataCollectionRules@/i.test(scope.project.text(file.path) ?? '')) return [];
  const evaluation = evaluateFile(scope.project, file.path, {}, 'lenient');
  return declaredIn(file, evaluation).flatMap(({ type, body, resource }) => {
    if (!/\/dataCollectionRules$/i.test(type)) return [];
    const flows = valuesAt(body, 'properties.dataFlows[]') as readonly Flow[];
    const [declared = {}] = valuesAt(body, 'properties.streamDeclarations');
    return flows.flatMap(({ streams, transformKql }) => {
      const columns = (
        Reflect.get(declared as object, String(streams[0])) as { columns?: readonly Column[] } | undefined
      )?.columns;
      if (transformKql === undefined || isOpaque(transformKql) || columns === undefined) return [];
      const known = columns.map(({ name, type: of }) => ({ name, type: of === 'boolean' ? 'bool' : of }));
      return transformProblems(transformKql, known, known, loadLanguageService()).map((what) =>
        finding(resource.line, 'transform', `${resource.name}: transformKql of ${streams[0]}: ${what}`),
      );
    });
  });
};
