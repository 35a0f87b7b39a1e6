/** Value of an option: several words, a flag (`true`), or left out (`undefined`). */
export type OptionValue = string | number | readonly string[] | true | undefined;

/** The argument list of a command of the Azure CLI: its words, then each option with its value. */
export const argumentsOf = (command: string, options: Readonly<Record<string, OptionValue>>): readonly string[] => [
  ...command.split(' '),
  ...Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (value === true) return [`--${name}`];
    return [`--${name}`, ...(typeof value === 'object' ? value : [String(value)])];
  }),
];

/** Where a command works. It is in every command that accepts it, because another shell could change the default meanwhile. */
export interface InSubscription {
  readonly subscription: string;
}

/** `name=value` for each tag, as `--tags` takes them. */
export const tagWords = (tags: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(tags).map(([name, value]) => `${name}=${value}`);
