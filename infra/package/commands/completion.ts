import { allOf, type CommandEntry, type OptionEntry } from './table.ts';

/** A command as one word: `service/install`; empty for the program itself. */
const pathOf = ({ words }: CommandEntry): string => words.join('/');

const flagsOf = ({ short, long }: OptionEntry): readonly string[] => (short === null ? [long] : [long, short]);

/** For Bash 4 and newer, without the functions of the package bash-completion. */
export function bashCompletion(program: CommandEntry, product: string): string {
  const all = allOf(program);
  const name = `_${product.replaceAll('-', '_')}`;
  const taking = (kind: string): string[] =>
    all.flatMap((entry) =>
      entry.options
        .filter(({ value }) => value?.kind === kind)
        .flatMap(flagsOf)
        .map((flag) => `'${pathOf(entry)} ${flag}'`),
    );
  const branch = (patterns: readonly string[], action: string): string[] =>
    patterns.length === 0 ? [] : [`  ${patterns.join(' | ')}) ${action} ;;`];
  return `# Completion of ${product} for bash; made from its table of commands.
${name}() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} command='' words='' index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$command/\${COMP_WORDS[index]}" in
    ${all.flatMap((entry) => (entry.words.length === 0 ? [] : [entry.words.length === 1 ? `/${pathOf(entry)}` : pathOf(entry)])).join(' | ')})
      command=\${command:+$command/}\${COMP_WORDS[index]} ;;
    esac
  done
  case "$command $before" in
${[
  ...branch(taking('file'), `compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current"); return`),
  ...branch(taking('folder'), `compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current"); return`),
  ...branch(taking('word'), 'return'),
].join('\n')}
  esac
  case $command in
${all.map((entry) => `  '${pathOf(entry)}') words='${wordsAfter(entry).join(' ')}' ;;`).join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F ${name} ${product}
`;
}

const wordsAfter = ({ commands, options }: CommandEntry): readonly string[] => [
  ...commands.map(({ words }) => words.at(-1) ?? ''),
  ...options.map(({ long }) => long),
];

/** As zsh reads it: a backslash in single quotes is itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** For zsh, as a function that `compinit` loads by its name. */
export function zshCompletion(program: CommandEntry, product: string): string {
  return `#compdef ${product}
# Completion of ${product} for zsh; made from its table of commands.
local curcontext=$curcontext state line
typeset -A opt_args
local -a commands
${zshLevel(program).join('\n')}
`;
}

function zshLevel(entry: CommandEntry): string[] {
  const specs = entry.options.map(zshOption);
  if (entry.commands.length === 0) {
    const takes = entry.takes.map(({ name, isRequired }) => quoted(`:${isRequired ? '' : ':'}${zshText(name)}: `));
    return [`_arguments ${[...specs, ...takes].join(' \\\n  ')}`];
  }
  return [
    `_arguments -C ${[...specs, "'1: :->command'", "'*:: :->rest'"].join(' \\\n  ')}`,
    'case $state in',
    'command)',
    `  commands=(${entry.commands.map(({ words, description }) => quoted(`${words.at(-1)}:${description}`)).join('\n    ')})`,
    '  _describe command commands',
    '  ;;',
    'rest)',
    '  case $words[1] in',
    ...entry.commands.flatMap((one) => [
      `  ${one.words.at(-1)})`,
      ...zshLevel(one).map((line) => `    ${line}`),
      '    ;;',
    ]),
    '  esac',
    '  ;;',
    'esac',
  ];
}

/** Brackets and colons have a meaning to zsh, so they are escaped. */
const zshText = (text: string): string => text.replace(/[[\]:\\]/g, (found) => `\\${found}`);

function zshOption({ long, short, description, value }: OptionEntry): string {
  const action = { file: '_files', folder: '_files -/', word: ' ' } as const;
  const takes = value === null ? '' : `:${zshText(value.name)}:${action[value.kind]}`;
  const explanation = quoted(`[${zshText(description)}]${takes}`);
  return short === null ? `${quoted(long)}${explanation}` : `'(${short} ${long})'{${short},${long}}${explanation}`;
}

/** For fish 3 and newer. */
export function fishCompletion(program: CommandEntry, product: string): string {
  const all = allOf(program);
  const name = `__${product.replaceAll('-', '_')}_at`;
  const known = all
    .filter(({ words }) => words.length > 0)
    .map((entry) => (entry.words.length === 1 ? `/${pathOf(entry)}` : pathOf(entry)));
  const at = (entry: CommandEntry): string => `complete -c ${product} -n "${name} '${pathOf(entry)}'"`;
  const lines = all.flatMap((entry) => [
    ...entry.commands.map((one) => `${at(entry)} -a ${one.words.at(-1)} -d ${fishQuoted(one.description)}`),
    ...entry.options.map((one) => `${at(entry)} ${fishOption(one)}`),
  ]);
  return `# Completion of ${product} for fish; made from its table of commands.
function ${name}
    set -l command ''
    for word in (commandline -opc)[2..-1]
        switch "$command/$word"
            case ${known.join(' ')}
                set command (string trim --left --chars=/ "$command/$word")
        end
    end
    test "$command" = "$argv[1]"
end
complete -c ${product} -f
${lines.join('\n')}
`;
}

const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fishOption({ long, short, description, value }: OptionEntry): string {
  const takes = { file: ' -r -F', folder: " -x -a '(__fish_complete_directories)'", word: ' -x' } as const;
  const flags = `-l ${long.slice(2)}${short === null ? '' : ` -s ${short.slice(1)}`}`;
  return `${flags}${value === null ? '' : takes[value.kind]} -d ${fishQuoted(description)}`;
}
