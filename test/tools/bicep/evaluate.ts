import { parse as parseYaml } from 'yaml';
import { evaluatedFunctions } from './evaluated-functions.ts';
import { type Project, resolvePath } from './project.ts';
import { objectOf } from './resource-shape.ts';
import { type BicepFile, declared, type Expression, type Module, plainText, type Resource } from './syntax.ts';

type Locals = ReadonlyMap<string, unknown>;
type Of<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

/** A file with values for its parameters: what its variables, functions, outputs and bodies come to. */
export interface Evaluation {
  /** A parameter, variable or imported variable. What only Azure knows stands as text in «». */
  value(name: string): unknown;
  call(name: string, given: readonly unknown[]): unknown;
  output(name: string): unknown;
  /** The bodies of a resource or module, one for each turn of its loop; none where its condition does not hold. */
  bodies(name: string): readonly Readonly<Record<string, unknown>>[];
  /** The same of a body as it is written, such as that of a nested resource. */
  bodiesOf(body: Expression): readonly Readonly<Record<string, unknown>>[];
}

/**
 * `strict`: as in a deployment; a parameter without value is an error. `lenient`: such a parameter is known only to Azure, and
 * conditions hold, so that every resource can be checked.
 */
export type EvaluationMode = 'strict' | 'lenient';

/** What Azure answers during a deployment; each value stands where text in «» would. */
export interface AzureValues {
  /** What the name of a resource comes to; a list of them for a loop. */
  resource(resource: Resource, evaluation: Evaluation): unknown;
  /** A function that only Azure can evaluate, such as `subscription()`. */
  call(name: string, given: readonly unknown[]): unknown;
  /** The same for a module that is deployed to this scope; undefined for one that has none of its own. */
  within(scope: unknown): AzureValues;
}

/** What a name of Azure's comes to: a text that says which. */
const onlyAzureKnows = (what: string): string => `«${what}»`;
const isOpaque = (value: unknown): value is string => typeof value === 'string' && /^«.*»$/.test(value);

/** @throws where there is no such file, or a parameter without default was not given */
export function evaluateFile(
  project: Project,
  path: string,
  given: Readonly<Record<string, unknown>>,
  mode: EvaluationMode = 'strict',
  azure: AzureValues | null = null,
): Evaluation {
  const file = project.file(path);
  if (file === null) throw new Error(`there is no file ${path}`);
  return evaluationOf(file, project, given, mode === 'lenient', azure);
}

function evaluationOf(
  file: BicepFile,
  project: Project,
  given: Readonly<Record<string, unknown>>,
  isLenient: boolean,
  azure: AzureValues | null,
): Evaluation {
  const { path } = file;
  const values = new Map<string, unknown>(Object.entries(given));

  const evaluation: Evaluation = {
    value(name) {
      if (!values.has(name)) values.set(name, declaredValue(name));
      return values.get(name);
    },
    call(name, values) {
      const own = declared(file, 'func').find((one) => one.name === name);
      if (own !== undefined) return evaluate(own.body, new Map(own.takes.map((taken, n) => [taken.name, values[n]])));
      const source = importedFrom(name);
      if (source !== null) return source.from.call(source.name, values);
      if (azure !== null) return azure.call(name, values);
      return onlyAzureKnows(`${name}(${values.map((value) => JSON.stringify(value)).join(', ')})`);
    },
    output(name) {
      const output = declared(file, 'output').find((one) => one.name === name);
      if (output === undefined) throw new Error(`${path} has no output ${name}`);
      return evaluate(output.value, new Map());
    },
    bodies(name) {
      const maker = [...declared(file, 'resource'), ...declared(file, 'module')].find((one) => one.name === name);
      if (maker === undefined) throw new Error(`${path} has no resource or module ${name}`);
      return bodiesOf(maker.body, new Map());
    },
    bodiesOf: (body) => bodiesOf(body, new Map()),
  };

  function declaredValue(name: string): unknown {
    const parameter = declared(file, 'param').find((one) => one.name === name);
    if (parameter !== undefined) {
      if (parameter.value !== null) return evaluate(parameter.value, new Map());
      if (isLenient) return onlyAzureKnows(name);
      if (parameter.type.kind === 'nullable') return null;
      throw new Error(`${path} requires ${name}`);
    }
    const variable = [...declared(file, 'var'), ...declared(file, 'assignment')].find((one) => one.name === name);
    if (variable !== undefined) return evaluate(variable.value, new Map());
    const source = importedFrom(name);
    if (source !== null) return source.from.value(source.name);
    const resource = azure === null ? undefined : declared(file, 'resource').find((one) => one.name === name);
    if (azure !== null && resource !== undefined) return azure.resource(resource, evaluation);
    const module = isLenient ? undefined : declared(file, 'module').find((one) => one.name === name);
    if (module === undefined) return onlyAzureKnows(name);
    const deployed = evaluation
      .bodies(name)
      .map(({ params = {}, scope }) => ({ outputs: outputsOf(module, params as object, scope) }));
    return module.body.kind === 'loop' ? deployed : (deployed[0] ?? onlyAzureKnows(name));
  }

  /** The outputs of a module, each evaluated when it is read. */
  function outputsOf(module: Module, params: object, scope: unknown): object {
    const path = resolvePath(file, module.path);
    const given = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
    const of = project.file(path);
    const names = of === null ? [] : declared(of, 'output').map((output) => output.name);
    let deployed: Evaluation | null = null;
    const get = (name: string) => () => {
      deployed ??= evaluateFile(project, path, given, 'strict', azure?.within(scope) ?? null);
      return deployed.output(name);
    };
    return Object.defineProperties(
      {},
      Object.fromEntries(names.map((name) => [name, { enumerable: true, get: get(name) }])),
    );
  }

  function importedFrom(name: string): { from: Evaluation; name: string } | null {
    for (const { path: from, names } of declared(file, 'import')) {
      const found = names.find(({ alias }) => alias === name);
      if (found !== undefined) {
        return { from: evaluateFile(project, resolvePath(file, from), {}), name: found.name };
      }
    }
    return null;
  }

  function bodiesOf(body: Expression, locals: Locals): Record<string, unknown>[] {
    if (body.kind === 'loop') return turns(body, locals).flatMap((inner) => bodiesOf(body.body, inner));
    if (body.kind === 'condition') {
      return !isLenient && evaluate(body.when, locals) === false ? [] : bodiesOf(body.body, locals);
    }
    const object = objectOf(body);
    return object === null ? [] : [evaluateObject(object, locals)];
  }

  function turns({ names: [item = '', turn = ''], over }: Of<'loop'>, locals: Locals): Locals[] {
    const known = evaluate(over, locals);
    // Of a list that only Azure knows, one iteration represents all.
    const items = isOpaque(known) ? [onlyAzureKnows(`${known.slice(1, -1)}[]`)] : known;
    if (!Array.isArray(items)) throw new Error(`${path} loops over ${JSON.stringify(items)}`);
    return items.map((one, n) => new Map([...locals, [item, one], [turn, n]]));
  }

  function evaluateObject({ entries }: Of<'object'>, locals: Locals): Record<string, unknown> {
    return Object.fromEntries(
      entries.map(({ key, computed, value }) => [
        key ?? String(computed === null ? '' : evaluate(computed, locals)),
        evaluate(value, locals),
      ]),
    );
  }

  function evaluate(expression: Expression, locals: Locals): unknown {
    const into = (inner: Expression): unknown => evaluate(inner, locals);
    switch (expression.kind) {
      case 'text':
        if (expression.parts.length === 1 && typeof expression.parts[0] === 'string') return expression.parts[0];
        return expression.parts.map((part) => (typeof part === 'string' ? part : asText(into(part)))).join('');
      case 'number':
      case 'boolean':
        return expression.value;
      case 'null':
        return null;
      case 'object':
        return evaluateObject(expression, locals);
      case 'list':
        return expression.items.map(into);
      case 'name':
        return locals.has(expression.name) ? locals.get(expression.name) : evaluation.value(expression.name);
      case 'member':
        return memberOf(into(expression.of), expression.name, expression.by, isLenient);
      case 'index':
        return memberOf(into(expression.of), into(expression.at), expression.safe ? '.?' : '.', isLenient);
      case 'call':
        return evaluateCall(expression, locals);
      case 'lambda':
        return (...values: unknown[]) =>
          evaluate(
            expression.body,
            new Map([...locals, ...expression.names.map((name, n) => [name, values[n]] as const)]),
          );
      case 'choice':
        return chosen(expression, into);
      case 'operation':
        return operate(expression.operator, expression.operands, into);
      case 'loop':
        return turns(expression, locals).map((inner) => evaluate(expression.body, inner));
      case 'condition':
        return into(expression.body);
      case 'sure':
        return into(expression.of);
    }
  }

  /** Where only Azure knows the condition, the branch that gives something. */
  function chosen({ when, then, else: other }: Of<'choice'>, into: (one: Expression) => unknown): unknown {
    const condition = into(when);
    return isLenient && isOpaque(condition) ? (into(then) ?? into(other)) : into(condition === true ? then : other);
  }

  function evaluateCall({ on, name, given: values }: Of<'call'>, locals: Locals): unknown {
    const plain = values.map((value) => evaluate(value, locals));
    const load = /^load(Text|Json|Yaml)Content$/.exec(name)?.[1];
    if (load !== undefined) return loaded(load, plainText(values[0]) ?? '');
    const own = evaluatedFunctions[name];
    if (own !== undefined && (!isOpaque(plain[0]) || name === 'uniqueString')) return own(...plain);
    if (on !== null && on.kind !== 'name') return onlyAzureKnows(`${name}()`);
    return evaluation.call(name, plain);
  }

  function loaded(kind: string, from: string): unknown {
    const text = project.text(resolvePath(file, from));
    if (text === null) throw new Error(`${path} loads ${from}, which is not there`);
    if (kind === 'Text') return text;
    return kind === 'Json' ? JSON.parse(text) : parseYaml(text);
  }

  return evaluation;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function memberOf(of: unknown, name: unknown, by: string, isLenient: boolean): unknown {
  if (isOpaque(of)) return onlyAzureKnows(`${of.slice(1, -1)}${by === '::' ? '::' : '.'}${name}`);
  if (typeof of !== 'object' || of === null) {
    if (by === '.?') return null;
    if (isLenient) return onlyAzureKnows(String(name));
    throw new Error(`${name} is read of ${JSON.stringify(of)}`);
  }
  return Reflect.get(of, String(name)) ?? null;
}

function operate(operator: string, operands: readonly Expression[], into: (one: Expression) => unknown): unknown {
  const [left, right] = operands;
  const a = left === undefined ? null : into(left);
  const b = (): unknown => (right === undefined ? null : into(right));
  switch (operator) {
    case '??':
      return a ?? b();
    case '&&':
      return a === true && b() === true;
    case '||':
      return a === true || b() === true;
    case '!':
      return a !== true;
    case '==':
      return JSON.stringify(a) === JSON.stringify(b());
    case '!=':
      return JSON.stringify(a) !== JSON.stringify(b());
    case '=~':
      return String(a).toLowerCase() === String(b()).toLowerCase();
    case '!~':
      return String(a).toLowerCase() !== String(b()).toLowerCase();
    case '<':
      return Number(a) < Number(b());
    case '<=':
      return Number(a) <= Number(b());
    case '>':
      return Number(a) > Number(b());
    case '>=':
      return Number(a) >= Number(b());
    case '+':
      return Number(a) + Number(b());
    case '-':
      return right === undefined ? -Number(a) : Number(a) - Number(b());
    case '*':
      return Number(a) * Number(b());
    case '/':
      return Math.trunc(Number(a) / Number(b()));
    default:
      return Number(a) % Number(b());
  }
}
