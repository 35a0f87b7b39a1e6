import { evaluate, type Functions, isList, isObject, type Json, type JsonObject } from './expression.ts';
import { inTemplates } from './functions.ts';

/**
 * Runs the template of a policy on one resource and gives what it writes, all expressions resolved. It knows what the
 * templates of this project consist of: deployments that read, and deployments that write a resource.
 */
export function written(template: Json, parameters: JsonObject, resource: JsonObject): readonly JsonObject[] {
  const writes: JsonObject[] = [];
  run(object(template), parameters, resource, writes);
  return writes;
}

/** `existing` is null where a template may not read resources: in a nested template that writes. */
function run(template: JsonObject, given: JsonObject, existing: JsonObject | null, writes: JsonObject[]): void {
  sameKeys(object(template.parameters), given);
  const outputs = new Map<string, Json>();
  const functions: Functions = {
    ...inTemplates,
    parameters: (name) => named(given, name),
    variables: (name) => resolved(named(object(template.variables), name), functions),
    ...(existing && { reference: (name, _version, full) => referred(existing, name, full) }),
  };
  for (const resource of list(template.resources)) step(object(resource));

  function referred(whole: JsonObject, name: Json | undefined, full: Json | undefined): Json {
    const deployed = outputs.get(String(name));
    if (deployed !== undefined) return { outputs: deployed };
    if (name !== whole.id) throw new Error(`reference('${name}') is not known here`);
    return full === 'Full' ? whole : object(whole.properties);
  }

  function step({ condition = true, ...resource }: JsonObject): void {
    if (resolved(condition, functions) !== true) return;
    if (resource.type === 'Microsoft.Resources/deployments') deploy(resource);
    else writes.push(object(resolved(resource, functions)));
  }

  function deploy({ name = null, dependsOn = [], properties }: JsonObject): void {
    const missing = list(resolved(dependsOn, functions)).find((one) => !outputs.has(String(one)));
    if (missing !== undefined) throw new Error(`${missing} has not run before`);
    const { template: nested, parameters: values = {}, expressionEvaluationOptions } = object(properties);
    // Without the option, the expressions of a nested template are evaluated as those of the template around it.
    if (expressionEvaluationOptions === undefined) {
      outputs.set(String(resolved(name, functions)), resolved(object(nested).outputs ?? {}, functions));
      return;
    }
    const inner = Object.entries(object(values)).map(([key, one]) => [
      key,
      resolved(object(one).value ?? null, functions),
    ]);
    run(object(nested), Object.fromEntries(inner), null, writes);
  }
}

function resolved(value: Json, functions: Functions): Json {
  if (typeof value === 'string') return evaluate(value, functions);
  if (isList(value)) return value.map((one) => resolved(one, functions));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, functions)]));
}

function object(value: Json | undefined): JsonObject {
  if (isObject(value)) return value;
  throw new Error(`${JSON.stringify(value)} is no object`);
}

function list(value: Json | undefined): readonly Json[] {
  if (isList(value)) return value;
  throw new Error(`${JSON.stringify(value)} is no list`);
}

function named(of: JsonObject, name: Json | undefined): Json {
  const value = of[String(name)];
  if (value === undefined) throw new Error(`'${name}' is not known here`);
  return value;
}

function sameKeys(declared: JsonObject, given: JsonObject): void {
  const [wanted, got] = [declared, given].map((one) => Object.keys(one).sort().join(', '));
  if (wanted !== got) throw new Error(`the template has the parameters ${wanted}, and is given ${got}`);
}
