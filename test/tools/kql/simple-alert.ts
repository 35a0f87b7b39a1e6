import { itemsOf, type KindNames, type KustoCode } from './language-service.ts';
import { calledBody, walk } from './syntax.ts';
import { outsideSubset } from './transform-subset.ts';

/** In a transformation, but not in a simple log search alert. */
const notInAlerts: Readonly<Record<string, string>> = {
  PrintOperator: 'print',
  DataTableExpression: 'datatable',
  LetStatement: 'let',
};

/**
 * What a rule of kind `SimpleLogAlert` would refuse of its query: it knows the transformations' subset without `print`,
 * `datatable` and `let`, and reads one table.
 * https://learn.microsoft.com/azure/azure-monitor/alerts/alerts-create-simple-alert
 */
export function simpleAlertProblems(code: KustoCode, kinds: KindNames): string[] {
  const faults = itemsOf(code.GetDiagnostics()).map(({ Code, Message }) => `${Code}: ${Message}`);
  if (faults.length > 0) return faults;
  const problems = outsideSubset(code.Syntax, kinds);
  walk(code.Syntax, (node) => {
    const name = notInAlerts[kinds.syntax(node)];
    if (name !== undefined) problems.push(`${name} is not available`);
    const isStored = calledBody(node) !== undefined;
    if (isStored) problems.push('a function of the workspace is not available: write its query out');
  });
  return [...new Set(problems)];
}
