/** What is written somewhere about the Azure CLI. */
export interface Written {
  readonly path: string;
  readonly text: string;
  /** `line`: to be run as it stands. `name`: only a command or a group of commands is named. */
  readonly kind: 'line' | 'name';
}

/** Where the Azure CLI is called or named. */
export const callOfAz = /\baz (?=[a-z$])/g;

const mentions = (text: string): boolean => text.search(callOfAz) !== -1;

/** Programs in these languages name a command in their messages, and do not run it. */
const programming: ReadonlySet<string> = new Set(['js', 'ts', 'python', 'go', 'java', 'rust', 'csharp']);

/** Every line that a document shows and every command that it names. Each occurrence of `az` is in one of them. */
export function writtenIn(path: string, text: string): readonly Written[] {
  const found: Written[] = [];
  const add = (kind: Written['kind'], one: string): string => {
    if (mentions(one)) found.push({ path, text: one.trim(), kind });
    return '';
  };
  if (path.endsWith('.bicepparam')) {
    text.replace(/\/\/.*?(az .*)$/gm, (_, line: string) => add('line', line));
    return found;
  }
  if (path.endsWith('.yaml')) text = text.replace(/^ *(az .*)$/gm, (_, line: string) => add('line', line));
  text
    .replace(/^ *```(\w*).*\n([\s\S]*?)^ *```$/gm, (_, language: string, block: string) =>
      programming.has(language)
        ? block.replaceAll('`', ' ')
        : block
            .replace(/\\\n\s*/g, '')
            .split('\n')
            .map((line) => add('line', line))
            .join(''),
    )
    .replace(/`([^`\n]+)`/g, (_, span: string) => add(/^az( [a-z][a-z-]*)+$/.test(span) ? 'name' : 'line', span))
    .replace(/\baz( [a-z][a-z-]*)+/g, (words) => add('name', words));
  return found;
}
