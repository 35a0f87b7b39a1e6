import { itemsOf, type LanguageService } from './language-service.ts';
import { type Column, columnsOf } from './syntax.ts';
import { outsideSubset } from './transform-subset.ts';
import { globalsOf } from './workspace.ts';

/** What a data collection rule would refuse of its `transformKql` from `source` into `target`, each as a sentence. */
export function transformProblems(
  query: string,
  source: readonly Column[],
  target: readonly Column[],
  service: LanguageService,
): string[] {
  const globals = globalsOf(service, new Map([['source', source]]), []);
  const code = service.kusto.Language.KustoCode.ParseAndAnalyze(query, globals);
  const faults = itemsOf(code.GetDiagnostics()).map(({ Code, Message }) => `${Code}: ${Message}`);
  if (faults.length > 0) return faults;
  const given = columnsOf(code.ResultType) ?? [];
  return [...outsideSubset(code.Syntax, service.kinds), ...columnProblems(given, target)];
}

function columnProblems(given: readonly Column[], target: readonly Column[]): string[] {
  const types = new Map(target.map(({ name, type }) => [name, type]));
  const problems = given.flatMap(({ name, type }) => {
    const wanted = types.get(name);
    if (wanted === undefined) return [`the table has no column ${name}`];
    return wanted === type ? [] : [`${name} is ${type}, but ${wanted} in the table`];
  });
  const hasTime = given.some(({ name, type }) => name === 'TimeGenerated' && type === 'datetime');
  return hasTime ? problems : [...problems, 'the output has no TimeGenerated of type datetime'];
}
