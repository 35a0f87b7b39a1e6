import { parse as parseYaml } from 'yaml';
import { functions } from './functions.ts';
import { resolvePath } from './project.ts';
import type { Scope } from './scope.ts';
import {
  any,
  arrayOf,
  bool,
  int,
  membersOf,
  type ObjectShape,
  type Property,
  type Shape,
  shapeOfJson,
  string,
  unionOf,
  withoutNull,
} from './shape.ts';
import { type Expression, plainText } from './syntax.ts';

type Of<K extends Expression['kind']> = Extract<Expression, { kind: K }>;
const nothing: Shape = { kind: 'null' };

/** What an expression gives, as far as that can be seen without running it; `any` where it cannot. */
export function infer(expression: Expression, scope: Scope): Shape {
  switch (expression.kind) {
    case 'text': {
      const value = plainText(expression);
      return value === null ? string : { kind: 'literal', value };
    }
    case 'number':
    case 'boolean':
      return { kind: 'literal', value: expression.value };
    case 'null':
      return nothing;
    case 'object':
      return inferObject(expression, scope);
    case 'list':
      return arrayOf(unionOf(expression.items.map((item) => infer(item, scope))));
    case 'name':
      return scope.value(expression.name) ?? any;
    case 'member': {
      if (expression.by === '::') return any;
      const of = infer(expression.of, scope);
      const found = propertyOf(of, expression.name);
      return expression.by === '.?' ? unionOf([found, nothing]) : found;
    }
    case 'index':
      return inferItem(expression, scope);
    case 'call':
      return inferCall(expression, scope);
    case 'choice':
      return unionOf([infer(expression.then, scope), infer(expression.else, scope)]);
    case 'operation':
      return inferOperation(expression, scope);
    case 'loop':
      return arrayOf(infer(expression.body, scope.with(localsOfLoop(expression, scope))));
    case 'condition':
      return infer(expression.body, scope);
    case 'sure':
      return withoutNull(infer(expression.of, scope));
    case 'lambda':
      return any;
  }
}

/** The shape of a property in all cases of the object; `any` without one. */
export function propertyOf(shape: Shape, name: string): Shape {
  const of = membersOf(withoutNull(shape)).map((member): Shape => {
    if (member.kind === 'object') {
      return member.properties.get(name)?.shape ?? member.rest ?? any;
    }
    if (member.kind === 'tagged') return unionOf([...member.cases.values()].map((one) => propertyOf(one, name)));
    return any;
  });
  return unionOf(of);
}

function inferObject({ entries }: Of<'object'>, scope: Scope): ObjectShape {
  const properties = new Map<string, Property>();
  for (const { key, value } of entries) {
    if (key !== null) properties.set(key, { shape: infer(value, scope), required: true, readOnly: false });
  }
  return { kind: 'object', name: 'object', properties, rest: entries.some(({ key }) => key === null) ? any : null };
}

function inferItem({ of, at, safe }: Of<'index'>, scope: Scope): Shape {
  const whole = infer(of, scope);
  const key = plainText(at);
  const item = key === null ? itemOf(whole) : propertyOf(whole, key);
  return safe ? unionOf([item, nothing]) : item;
}

/** What a list holds, or the other properties of an object. */
function itemOf(shape: Shape): Shape {
  return unionOf(
    membersOf(withoutNull(shape)).map((member) => {
      if (member.kind === 'array') return member.of;
      return member.kind === 'object' ? (member.rest ?? any) : any;
    }),
  );
}

function inferOperation({ operator, operands }: Of<'operation'>, scope: Scope): Shape {
  const [left, right] = operands.map((operand) => infer(operand, scope));
  if (operator === '??') return unionOf([withoutNull(left ?? any), right ?? any]);
  if (['+', '*', '/', '%'].includes(operator) || operator === '-') return int;
  return bool;
}

function inferCall(call: Of<'call'>, scope: Scope): Shape {
  const { name, given } = call;
  if (!isBuiltIn(call)) return call.on === null ? (scope.func(name)?.gives ?? any) : any;
  const [first] = given;
  const lambda = given.find((value): value is Of<'lambda'> => value.kind === 'lambda');
  if (name === 'map' && lambda !== undefined) {
    return arrayOf(infer(lambda.body, scope.with(localsOfLambda(call, lambda, scope))));
  }
  if (name === 'items' && first !== undefined) return itemsOf(infer(first, scope));
  if (name === 'union') return merged(given.map((value) => infer(value, scope)));
  if (/^load(Json|Yaml)Content$/.test(name) && given.length === 1) return loaded(call, scope);
  return functions[name]?.gives(given.map((value) => infer(value, scope))) ?? any;
}

/** A function of Bicep itself, and not one of the file or of a resource. */
export function isBuiltIn({ on, name }: Of<'call'>): boolean {
  if (on === null) return name in functions;
  return on.kind === 'name' && (on.name === 'az' || on.name === 'sys') && name in functions;
}

function itemsOf(shape: Shape): Shape {
  if (shape.kind !== 'object') return functions.items?.gives([]) ?? any;
  const value = unionOf([
    ...[...shape.properties.values()].map((property) => property.shape),
    ...(shape.rest === null ? [] : [shape.rest]),
  ]);
  const property = (of: Shape): Property => ({ shape: of, required: true, readOnly: false });
  const properties = new Map([
    ['key', property(string)],
    ['value', property(value)],
  ]);
  return arrayOf({ kind: 'object', name: 'items()', properties, rest: null });
}

function merged(shapes: readonly Shape[]): Shape {
  const objects = shapes.filter((shape): shape is ObjectShape => shape.kind === 'object');
  if (objects.length !== shapes.length) {
    const arrays = shapes.flatMap((shape) => (shape.kind === 'array' ? [shape.of] : []));
    return arrays.length === shapes.length ? arrayOf(unionOf(arrays)) : any;
  }
  const rests = objects.flatMap(({ rest }) => (rest === null ? [] : [rest]));
  const properties = new Map(objects.flatMap((object) => [...object.properties]));
  return { kind: 'object', name: 'object', properties, rest: rests.length === 0 ? null : unionOf(rests) };
}

/** The shape of a file that is loaded; a file that is not there is found by the check of loads. */
function loaded({ name, given }: Of<'call'>, { project, file }: Scope): Shape {
  const path = plainText(given[0]);
  const text = path === null ? null : project.text(resolvePath(file, path));
  if (path === null || text === null) return any;
  try {
    return shapeOfJson(name === 'loadJsonContent' ? JSON.parse(text) : parseYaml(text), path);
  } catch {
    return any;
  }
}

/** The names of a loop: the item, and the number of the turn. */
export function localsOfLoop({ names, over }: Of<'loop'>, scope: Scope): Map<string, Shape> {
  const [item = '', turn] = names;
  return new Map([[item, itemOf(infer(over, scope))], ...(turn === undefined ? [] : [[turn, int] as const])]);
}

/** The names of a lambda, by the function that it is given to. */
export function localsOfLambda(call: Of<'call'>, { names }: Of<'lambda'>, scope: Scope): Map<string, Shape> {
  const [first] = call.given;
  const item = first === undefined || call.name === 'reduce' ? any : itemOf(infer(first, scope));
  const isTurn = (n: number) => n === 1 && call.name !== 'sort' && call.name !== 'reduce';
  return new Map(names.map((name, n) => [name, isTurn(n) ? int : item]));
}
