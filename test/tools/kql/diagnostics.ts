import { argumentsByName } from './call-arguments.ts';
import { itemsOf, type KindNames, type KustoCode, type KustoDiagnostic, type SyntaxNode } from './language-service.ts';
import { argumentsOf, cached, calledBody, hasColumns, part, simpleName, typeOf, walk } from './syntax.ts';

/** What the language service says against a query. `code` is Kusto's (`KS142`) or `argument-type`, `at` an offset in the text. */
export type Diagnostic = {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly at: number;
};

export const diagnosticOf = ({ Code, Severity, Message, Start }: KustoDiagnostic): Diagnostic => ({
  code: Code,
  severity: Severity,
  message: Message,
  at: Start,
});

/** What the language service says of a query and of the functions it calls, however deep, and what it overlooks. */
export function diagnosticsOf(code: KustoCode): Diagnostic[] {
  const { called, overlooked } = faultsUnder(code.Syntax);
  return [...itemsOf(code.GetDiagnostics()).map(diagnosticOf), ...called, ...overlooked];
}

type Faults = { readonly called: readonly Diagnostic[]; readonly overlooked: readonly Diagnostic[] };

/** What is wrong in the calls under a node and in the bodies of the functions; queries share bound bodies. */
const faultsUnder = cached((root): Faults => {
  const called: Diagnostic[] = [];
  const overlooked: Diagnostic[] = [];
  walk(root, (node) => {
    const body = calledBody(node);
    called.push(...itemsOf(node.GetCalledFunctionDiagnostics?.()).map(diagnosticOf));
    if (!body) return;
    const inside = faultsUnder(body);
    called.push(...inside.called);
    overlooked.push(...wrongArguments(node), ...inside.overlooked);
  });
  return { called, overlooked };
});

/** A text for a parameter that is a timespan: the language service lets it pass, the service does not. */
function wrongArguments(call: SyntaxNode): Diagnostic[] {
  return argumentsByName(call).flatMap(({ name, node, isDefault, types }) => {
    const type = typeOf(node);
    const isKnown = type !== 'unknown' && type !== 'dynamic' && types.length > 0 && !hasColumns(node);
    const fits = types.some((each) => each === type || (isNumber(each) && isNumber(type)));
    if (isDefault || !isKnown || fits) return [];
    const message = `The parameter ${name} is ${types.join(' or ')}, and is given a ${type}.`;
    return [{ code: 'argument-type', severity: 'Error', message, at: node.TextStart ?? 0 }];
  });
}

const isNumber = (type: string): boolean => /^(int|long|real|decimal)$/.test(type);

/**
 * Two things that the language service has against a query and the service has not: `count(x)`, of which it takes no
 * notice of the x, and an array function of a property bag, which is null.
 */
export function isAnsweredAllTheSame({ code, at }: Diagnostic, query: KustoCode, kinds: KindNames): boolean {
  if (code !== 'KS107') return code === 'KS234';
  let isOfCount = false;
  walk(query.Syntax, (node) => {
    if (kinds.syntax(node) !== 'FunctionCallExpression' || simpleName(part(node, 'Name')) !== 'count') return;
    isOfCount ||= argumentsOf(node).some((argument) => argument.TextStart === at);
  });
  return isOfCount;
}
