import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bashCompletion, fishCompletion, zshCompletion } from '../../../infra/package/commands/completion.ts';
import { manPage } from '../../../infra/package/commands/man-page.ts';
import { allOf, commandTable } from '../../../infra/package/commands/table.ts';
import { exitCodes } from '../../../src/cli/exit-codes.ts';
import { lacking, moment, newFolder } from './harness.ts';

const product = 'scheduled-events-bridge';
const table = commandTable();
const page = manPage(table, { product, version: '3.2.1', at: moment });

function written(name: string, text: string): string {
  const file = join(newFolder(), name);
  writeFileSync(file, text);
  return file;
}

test('the table has every command, with its options and what they take', () => {
  const words = allOf(table).map((entry) => entry.words.join(' '));
  expect(words).toEqual(expect.arrayContaining(['', 'run', 'service install', 'outbox retry', 'version']));
  const install = allOf(table).find((entry) => entry.words.join(' ') === 'service install');
  expect(install?.options.map(({ long, short, value }) => [long, short, value?.kind ?? null])).toEqual([
    ['--from', null, 'folder'],
    ['--key', null, 'file'],
    ['--config', '-c', 'file'],
    ['--no-start', null, null],
    ['--help', '-h', null],
  ]);
});

test('the man page has every command, every option and every exit code', () => {
  const plain = page.replaceAll('\\-', '-');
  for (const { words, options, commands } of allOf(table)) {
    if (words.length === 0 || commands.length > 0) continue;
    expect(plain).toContain(`.SS ${words.join(' ')}`);
    for (const { long } of options.filter((one) => one.long !== '--help')) expect(plain).toContain(`\\fB${long}\\fR`);
  }
  for (const { code } of Object.values(exitCodes)) expect(plain).toContain(`\n.B ${code}\n`);
});

test('mandoc finds nothing wrong with the man page, and shows it', ({ skip }) => {
  const missing = lacking('mandoc');
  skip(missing !== null, `${missing}: apt-get install mandoc`);
  const file = written(`${product}.8`, page);
  expect(spawnSync('mandoc', ['-T', 'lint', '-W', 'warning', file], { encoding: 'utf8' }).stdout).toBe('');
  const { stdout } = spawnSync('mandoc', ['-T', 'ascii', file], { encoding: 'utf8' });
  // Bold and underlined letters are typed over one another.
  const shown = stdout.replace(new RegExp(`.${'\b'}`, 'g'), '').replace(/\s+/g, ' ');
  expect(shown).toContain('service install Install a package, or update to it;');
  expect(shown).toContain('-c, --config file the configuration file; it is validated and copied');
});

/** What a shell offers for the line so far. */
const cases: readonly { readonly line: string; readonly offers: readonly string[]; readonly not: readonly string[] }[] =
  [
    { line: '', offers: ['run', 'check', 'service', 'outbox'], not: ['install', 'retry'] },
    { line: 'service ', offers: ['install', 'uninstall', 'status'], not: ['run', 'retry'] },
    { line: 'service un', offers: ['uninstall'], not: ['install', 'status'] },
    { line: 'service install --', offers: ['--from', '--key', '--config', '--no-start'], not: ['--keep-state'] },
    { line: 'service status --', offers: ['--json'], not: ['--state-directory'] },
    { line: 'status --', offers: ['--json', '--state-directory'], not: ['--from'] },
    { line: 'check --offline --', offers: ['--write'], not: ['--from'] },
    { line: 'check --config ', offers: ['config.json'], not: ['--write', 'run'] },
    { line: 'service install --from ', offers: ['package'], not: ['config.json', '--key'] },
  ];

/** A folder with a file and a folder to choose. */
function folderWithFiles(): string {
  const folder = newFolder();
  writeFileSync(join(folder, 'config.json'), '{}');
  mkdirSync(join(folder, 'package'));
  return folder;
}

function expectOffers(offered: readonly string[], { offers, not }: (typeof cases)[number]): void {
  expect(offered).toEqual(expect.arrayContaining([...offers]));
  expect(offered.filter((one) => not.includes(one))).toEqual([]);
}

test.for(cases)('bash completes "$line"', (one, { skip }) => {
  const missing = lacking('bash');
  skip(missing !== null, missing ?? '');
  const words = `${product} ${one.line}`.split(' ');
  const script = `compopt() { :; }; source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _scheduled_events_bridge; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const file = written('completion', bashCompletion(table, product));
  const { stdout, stderr } = spawnSync('bash', ['-c', script, file, ...words], {
    encoding: 'utf8',
    cwd: folderWithFiles(),
  });
  expect(stderr).toBe('');
  expectOffers(stdout.split('\n'), one);
});

test.for(cases)('fish completes "$line"', (one, { skip }) => {
  const missing = lacking('fish');
  skip(missing !== null, `${missing}: apt-get install fish`);
  const file = written('completion.fish', fishCompletion(table, product));
  const { stdout, stderr } = spawnSync(
    'fish',
    ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', file, `${product} ${one.line}`],
    {
      encoding: 'utf8',
      cwd: folderWithFiles(),
    },
  );
  expect(stderr).toBe('');
  expectOffers(
    stdout.split('\n').map((line) => line.replace(/\t.*/, '').replace(/\/$/, '')),
    one,
  );
});

/** A zsh in a pseudo-terminal, in which the line is typed and completions are requested. */
const typeInto = `
zmodload zsh/zpty
zpty shell zsh -f -i
expect() { local found; zpty -r -m shell found "*$1*"; print -r -- "$found" }
zpty -w shell 'PROMPT=; TERM=dumb; fpath=('$1' $fpath); autoload -U compinit; compinit -D -u; LISTMAX=0; setopt no_list_beep no_auto_menu; zstyle ":completion:*" list-colors ""; offer() { zle list-choices; zle -R; print -n en""ded }; zle -N offer; bindkey "^X" offer; cd '$3'; print rea""dy'
expect ready >/dev/null
zpty -w -n shell $2$'\\x18'
expect ended
`;

test.for(cases)('zsh completes "$line"', (one, { skip }) => {
  const missing = lacking('zsh');
  skip(missing !== null, `${missing}: apt-get install zsh`);
  const file = written(`_${product}`, zshCompletion(table, product));
  const script = written('type', typeInto);
  const { stdout } = spawnSync(
    'zsh',
    [
      '-f',
      script,
      join(file, '..').replaceAll(' ', '\\ '),
      `${product} ${one.line}`,
      folderWithFiles().replaceAll(' ', '\\ '),
    ],
    {
      encoding: 'utf8',
      timeout: 20_000,
    },
  );
  const control = String.fromCharCode(27);
  const shown = stdout.replaceAll(new RegExp(`${control}\\[[\\d;?]*[a-zA-Z]`, 'g'), '').split('\n');
  expectOffers(
    shown.flatMap((text) => text.replace(/ -- .*/, '').split(/[\s/]+/)),
    one,
  );
});
