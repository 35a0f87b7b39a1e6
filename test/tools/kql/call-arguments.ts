import { itemsOf, type SyntaxNode } from './language-service.ts';
import { argumentsOf, cached, nameOf, part, partIfAny } from './syntax.ts';
import { unsupported } from './unsupported.ts';
import type { TypeName } from './values.ts';

export type Argument = {
  /** Of the parameter. */
  readonly name: string;
  readonly node: SyntaxNode;
  readonly isDefault: boolean;
  /** Types the parameter is declared with; none for a table. */
  readonly types: readonly TypeName[];
};

/** The arguments of a call of a declared function with the names of its parameters, defaults filled in. */
export const argumentsByName = cached((node): readonly Argument[] => {
  const symbol = node.ReferencedSymbol ?? unsupported('a call without a symbol');
  const signature = itemsOf(symbol.Signatures)[0] ?? unsupported(`the function ${symbol.Name}, which has no signature`);
  const given = partIfAny(node, 'ArgumentList') ? argumentsOf(node) : [];
  const byName = new Map(
    given.flatMap((each): [string, SyntaxNode][] =>
      isNamed(each) ? [[nameOf(part(each, 'Name')), part(each, 'Expression')]] : [],
    ),
  );
  return itemsOf(signature.Parameters).map((parameter, index) => {
    const positional = given[index];
    const argument = byName.get(parameter.Name) ?? (positional && !isNamed(positional) ? positional : undefined);
    const value = argument ?? parameter.DefaultValue ?? unsupported(`no value for the parameter ${parameter.Name}`);
    const types = itemsOf(parameter.DeclaredTypes).map((type) => type.Name);
    return { name: parameter.Name, node: value, isDefault: argument === undefined, types };
  });
});

const isNamed = (node: SyntaxNode): boolean => partIfAny(node, 'EqualToken') !== undefined;
