import { createRequire } from 'node:module';

/** A type, table or name of the language service; scalar types have no columns. */
export type KustoSymbol = {
  readonly Name: string;
  readonly Kind: number;
  readonly Type?: KustoSymbol | null;
  readonly Columns?: KustoList<KustoSymbol> | null;
  readonly Signatures?: KustoList<{ readonly Parameters: KustoList<KustoParameter> }> | null;
};

type KustoParameter = KustoSymbol & {
  readonly DefaultValue?: SyntaxNode | null;
  readonly DeclaredTypes?: KustoList<KustoSymbol> | null;
};

type KustoList<T> = { readonly Count: number; getItem(index: number): T };

/** A node or token of the official syntax tree, with what the binder found out about it. */
export type SyntaxNode = {
  readonly Kind: number;
  readonly ChildCount: number;
  GetChild(index: number): SyntaxNode | null;
  readonly ResultType?: KustoSymbol | null;
  readonly ReferencedSymbol?: KustoSymbol | null;
  readonly TextStart?: number;
  readonly IsConstant?: boolean;
  readonly LiteralValue?: unknown;
  /** Tokens only. */
  readonly Text?: string;
  /** Tokens only: the text a string token stands for. */
  readonly ValueText?: string;
  /** Names only. */
  readonly SimpleName?: string;
  /** Calls of functions declared in the query or the workspace: the body, bound for this call. */
  GetCalledFunctionBody?(): SyntaxNode | null;
  /** What the binder says against that body; the diagnostics of the query do not hold it. */
  GetCalledFunctionDiagnostics?(): KustoList<KustoDiagnostic> | null;
};

export type KustoDiagnostic = {
  readonly Code: string;
  readonly Severity: string;
  readonly Message: string;
  readonly Start: number;
  readonly Length: number;
};

export type KustoCode = {
  readonly Syntax: SyntaxNode;
  readonly ResultType: KustoSymbol | null;
  GetDiagnostics(): KustoList<KustoDiagnostic>;
};

/** Opaque: the symbols a query can name. */
export type Globals = { WithDatabase(database: object): Globals; WithCache(): Globals };

/** The few members of Microsoft's language service that are used here. */
type Kusto = {
  readonly Language: {
    readonly GlobalState: { readonly Default: Globals };
    readonly KustoCode: { ParseAndAnalyze(text: string, globals: Globals): KustoCode };
    readonly Symbols: {
      readonly SymbolKind: object;
      readonly TableSymbol: { readonly $ctor7: new (name: string, schema: string, description: null) => object };
      readonly FunctionSymbol: {
        readonly $ctor16: new (name: string, parameters: string, body: string, description: null) => object;
      };
      readonly DatabaseSymbol: { readonly ctor: new (name: string, members: readonly object[]) => object };
    };
    readonly Syntax: { readonly SyntaxKind: object };
    readonly Editor: {
      readonly KustoCodeService: {
        readonly ctor: new (code: KustoCode) => CodeService;
      };
    };
  };
};

type CodeService = {
  GetFormattedText(): { readonly Text: string };
  GetAnalyzerDiagnostics(isWaiting: boolean): KustoList<KustoDiagnostic>;
};

type EnumNames = { toString(kind: object, value: number): string };

/**
 * Microsoft's language service for KQL. It is a pair of scripts made for a browser that leave `Bridge`, `System` and
 * `Kusto` on the global object, so they are loaded for their effect; Node keeps them loaded once per process.
 */
export function loadLanguageService(): LanguageService {
  const require = createRequire(import.meta.url);
  require('@kusto/language-service-next/bridge.min.js');
  require('@kusto/language-service-next/Kusto.Language.Bridge.min.js');
  const kusto: Kusto = Reflect.get(globalThis, 'Kusto');
  const system: { readonly Enum: EnumNames } = Reflect.get(globalThis, 'System');
  return { kusto, kinds: kindNames(kusto, system.Enum) };
}

export type LanguageService = { readonly kusto: Kusto; readonly kinds: KindNames };

/** What the numbers of the language service are called. */
export type KindNames = { syntax(node: SyntaxNode): string; symbol(symbol: KustoSymbol): string };

function kindNames(kusto: Kusto, names: EnumNames): KindNames {
  const named = (kind: object) => {
    const known = new Map<number, string>();
    return (value: number) => {
      const found = known.get(value);
      if (found !== undefined) return found;
      const name = names.toString(kind, value);
      known.set(value, name);
      return name;
    };
  };
  const syntax = named(kusto.Language.Syntax.SyntaxKind);
  const symbol = named(kusto.Language.Symbols.SymbolKind);
  const ofNode = new WeakMap<SyntaxNode, string>();
  const syntaxOnce = (node: SyntaxNode): string => {
    const found = ofNode.get(node);
    if (found !== undefined) return found;
    const name = syntax(node.Kind);
    ofNode.set(node, name);
    return name;
  };
  return { syntax: syntaxOnce, symbol: (of) => symbol(of.Kind) };
}

/** The items of one of the language service's lists. */
export function itemsOf<T>(list: KustoList<T> | null | undefined): T[] {
  return list ? Array.from({ length: list.Count }, (_, index) => list.getItem(index)) : [];
}
