import { type Check, type Finding, finding } from '../finding.ts';
import { objectOf, typeAndVersion } from '../resource-shape.ts';
import { declared, type Expression, type Resource } from '../syntax.ts';

/**
 * A resource stands once in a file, also beside an `existing` one: Azure refuses a template in which two that are both
 * there have one type and name. Two are allowed where the condition of one is the opposite of the other's.
 * https://learn.microsoft.com/azure/azure-resource-manager/bicep/bicep-error-bcp121
 */
export const once: Check = ({ file }) => {
  const resources = declared(file, 'resource')
    // The names of a loop are known only with its items.
    .filter(({ body }) => body.kind !== 'loop')
    .map((resource) => ({ resource, key: keyOf(resource) }));
  return resources.flatMap(({ resource, key }, n): Finding[] => {
    const twin = resources
      .slice(0, n)
      .find((other) => other.key === key && !areOpposite(conditionsOf(other.resource), conditionsOf(resource)));
    if (twin === undefined) return [];
    const what = `${resource.name} and ${twin.resource.name} are the same resource, and can both be there: Azure refuses the template`;
    return [finding(resource.line, 'BCP121', what)];
  });
};

function keyOf({ typeName, body }: Resource): string {
  const entries = objectOf(body)?.entries ?? [];
  const parts = ['name', 'parent', 'scope'].map((key) => entries.find((entry) => entry.key === key)?.value ?? null);
  return [
    typeAndVersion(typeName).type.toLowerCase(),
    ...parts.map((part) => (part === null ? '' : asText(part))),
  ].join();
}

/** What all has to hold for a resource to be there. */
function conditionsOf({ body }: Resource): readonly Expression[] {
  return body.kind === 'condition' ? conjuncts(body.when) : [];
}

function conjuncts(when: Expression): readonly Expression[] {
  return when.kind === 'operation' && when.operator === '&&' ? when.operands.flatMap(conjuncts) : [when];
}

function areOpposite(one: readonly Expression[], other: readonly Expression[]): boolean {
  const denied = (when: Expression): string | null => {
    const [operand] = when.kind === 'operation' && when.operator === '!' ? when.operands : [];
    return operand === undefined ? null : asText(operand);
  };
  return one.some((a) => other.some((b) => denied(a) === asText(b) || denied(b) === asText(a)));
}

/** The same text for expressions that are written the same, wherever they stand. */
const asText = (expression: Expression): string =>
  JSON.stringify(expression, (key, value: unknown) => (key === 'line' ? undefined : value));
