/** Expressions of Azure Resource Manager, `[concat(parameters('a'), '/x')]`, as policies and their templates use them. */

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = Extract<Json, { readonly [key: string]: Json }>;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

type Syntax =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'call'; readonly name: string; readonly given: readonly Syntax[] }
  | { readonly kind: 'member'; readonly of: Syntax; readonly key: Syntax };

export type Functions = Readonly<Record<string, (...given: readonly Json[]) => Json>>;

/**
 * The value of an expression; what is none is its own value. `if` evaluates only the branch that is taken, and `lambda` is
 * only understood inside `filter`. A function that is not among `functions` is refused: so a rule that uses one which its
 * engine does not have is found here.
 */
export function evaluate(text: string, functions: Functions): Json {
  if (!text.startsWith('[') || text.startsWith('[[')) return text;
  if (!text.endsWith(']')) throw new Error(`${text}: an expression ends with ]`);
  return resultOf(parse(text.slice(1, -1)), functions);
}

function resultOf(syntax: Syntax, functions: Functions): Json {
  if (syntax.kind === 'value') return syntax.value;
  if (syntax.kind === 'member') return member(resultOf(syntax.of, functions), resultOf(syntax.key, functions));
  const { name, given } = syntax;
  if (name === 'if' && given.length === 3) {
    const [condition, yes, no] = given;
    if (condition && yes && no) return resultOf(resultOf(condition, functions) === true ? yes : no, functions);
  }
  if (name === 'filter') return filtered(given, functions);
  const called = functions[name];
  if (!called) throw new Error(`${name}() is not known here`);
  return called(...given.map((one) => resultOf(one, functions)));
}

function filtered([list, lambda]: readonly Syntax[], functions: Functions): Json {
  if (!list || lambda?.kind !== 'call' || lambda.name !== 'lambda')
    throw new Error('filter() takes a list and a lambda');
  const [variable, body] = lambda.given;
  if (variable?.kind !== 'value' || !body) throw new Error('lambda() takes a name and an expression');
  const items = resultOf(list, functions);
  if (!isList(items)) throw new Error('filter() takes a list');
  return items.filter((item) => {
    const lambdaVariables = (name: Json): Json => {
      if (name !== variable.value) throw new Error(`lambdaVariables('${name}') is not known here`);
      return item;
    };
    return resultOf(body, { ...functions, lambdaVariables }) === true;
  });
}

function member(of: Json, key: Json): Json {
  const value = isList(of) && typeof key === 'number' ? of[key] : isObject(of) ? of[String(key)] : undefined;
  if (value === undefined) throw new Error(`there is no ${key} in ${JSON.stringify(of)}`);
  return value;
}

const token = /\s*(?:'((?:[^']|'')*)'|(-?\d+)|([A-Za-z_]\w*)|([()[\].,]))/y;

function parse(text: string): Syntax {
  const tokens = tokensOf(text);
  let at = 0;
  const fail = (): never => {
    throw new Error(`${text}: cannot be read as an expression`);
  };
  const skip = (mark: string): boolean => tokens[at]?.mark === mark && at++ >= 0;

  const whole = expression();
  return at === tokens.length ? whole : fail();

  function expression(): Syntax {
    let syntax = primary();
    for (;;) {
      if (skip('.'))
        syntax = { kind: 'member', of: syntax, key: { kind: 'value', value: tokens[at++]?.name ?? fail() } };
      else if (skip('[')) {
        syntax = { kind: 'member', of: syntax, key: expression() };
        if (!skip(']')) fail();
      } else return syntax;
    }
  }

  function primary(): Syntax {
    const next = tokens[at++] ?? fail();
    if (next.value !== undefined) return { kind: 'value', value: next.value };
    const name = next.name ?? fail();
    const given: Syntax[] = [];
    if (!skip('(')) fail();
    while (!skip(')')) {
      if (given.length > 0 && !skip(',')) fail();
      given.push(expression());
    }
    return { kind: 'call', name, given };
  }
}

interface Token {
  readonly value?: string | number;
  readonly name?: string;
  readonly mark?: string;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.trimEnd().length) {
    token.lastIndex = at;
    const found = token.exec(text);
    if (!found) throw new Error(`${text}: cannot be read as an expression at character ${at + 1}`);
    at = token.lastIndex;
    const [, quoted, digits, name, mark] = found;
    if (quoted !== undefined) tokens.push({ value: quoted.replaceAll("''", "'") });
    else if (digits !== undefined) tokens.push({ value: Number(digits) });
    else if (name !== undefined) tokens.push({ name });
    else if (mark !== undefined) tokens.push({ mark });
  }
  return tokens;
}
