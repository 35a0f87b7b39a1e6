import { closeSync, writeFileSync } from 'node:fs';
import { InvalidArgumentError, Option } from 'commander';
import { closest } from '../config/did-you-mean.ts';
import { authenticationsOf, sampleConfiguration, schemaFile } from '../config/sample.ts';
import { thisSystem } from '../operating-system.ts';
import type { SinkDescriptor } from '../sinks/descriptor.ts';
import { sinks } from '../sinks/registry.ts';
import { type CommandContext, describeVerb, type Verb } from './command-context.ts';
import { Failure } from './exit-codes.ts';
import { openNew } from './new-file.ts';
import { helpText } from './wrap.ts';

const output = ['-o, --output <file>', 'write to a new file instead of standard output'] as const;

/** `config`: what helps to write a configuration. `check --offline` is what validates one. */
export const addConfig: Verb = (program, context) => {
  const config = program
    .command('config')
    .description('write a sample configuration, or the JSON Schema of configurations')
    .helpCommand(false);
  describeVerb(config);
  const names = sinks.map(({ name }) => name);
  const authentications = [...new Set(sinks.flatMap(authenticationsOf))];
  describeVerb(
    config
      .command('init')
      .description('write a commented sample configuration for the named destinations')
      .addOption(
        new Option('--sink <name>', 'a destination of records (required); repeat it for several')
          .choices(names)
          .argParser((name: string, before: readonly string[] = []) => [...before, known(name, names)]),
      )
      .addOption(
        new Option('--auth <how>', 'how the bridge authenticates; each destination has its own default').choices(
          authentications,
        ),
      )
      .option(...output)
      .addHelpText(
        'after',
        helpText(`
By destination, the default first: ${sinks.map((sink) => `${sink.name}: ${authenticationsOf(sink).join(', ') || 'none needed'}`).join('; ')}.

A file meant for a secret is created with mode 0600 on Linux; on Windows it has the access rights of its folder. An existing file is not changed.`),
      ),
  ).action((chosen: InitOptions) => init(chosen, context));
  describeVerb(
    config
      .command('schema')
      .description('write the JSON Schema, with which editors complete and validate a configuration')
      .option(...output)
      .addHelpText('after', helpText(`A configuration names it as "$schema": "./${schemaFile}".`)),
  ).action(async ({ output: file }: { readonly output?: string }) => {
    const { default: schema } = await import('../../infra/schema/configuration.v1.json', { with: { type: 'json' } });
    write(schema, file, 0o644, context);
    if (file !== undefined) context.print(`Wrote ${file}.\n`);
  });
};

function known(name: string, names: readonly string[]): string {
  const ofKey = sinks.find(({ key }) => key === name)?.name;
  if (ofKey !== undefined) return ofKey;
  if (names.includes(name)) return name;
  const near = closest(name, names);
  throw new InvalidArgumentError(near ? `did you mean ${near}?` : `expected one of ${names.join(', ')}.`);
}

interface InitOptions {
  readonly sink?: readonly string[];
  readonly auth?: string;
  readonly output?: string;
}

function init({ sink: names, auth, output: file }: InitOptions, context: CommandContext): void {
  if (names === undefined) {
    const known = sinks.map(({ name }) => name).join(', ');
    throw new Failure('usage', `config init needs --sink, once for each destination: ${known}.`);
  }
  const chosen: readonly SinkDescriptor[] = sinks.filter(({ name }) => names.includes(name));
  if (auth !== undefined && !chosen.some((sink) => authenticationsOf(sink).includes(auth))) {
    const able = sinks.filter((sink) => authenticationsOf(sink).includes(auth)).map(({ name }) => name);
    const needsNone = chosen.every((sink) => authenticationsOf(sink).length === 0);
    const leave = needsNone ? `${names.join(', ')} needs no --auth` : `add --sink ${able[0]}, or leave it out`;
    throw new Failure('usage', `--auth ${auth} applies to ${able.join(', ')}: ${leave}.`);
  }
  const { document, holdsSecret } = sampleConfiguration(chosen, auth ?? null);
  write(document, file, holdsSecret ? 0o600 : 0o644, context);
  if (file === undefined) return;
  const kept = holdsSecret ? `, ${thisSystem.newSecretFile}, since a secret belongs in it` : '';
  context.print(`Wrote ${file}${kept}. Complete it, then validate it:
  scheduled-events-bridge check --offline --config ${file}
For completion in an editor, in the folder of that file:
  scheduled-events-bridge config schema --output ${schemaFile}
`);
}

function write(document: object, file: string | undefined, mode: number, { print }: CommandContext): void {
  const json = `${JSON.stringify(document, null, 2)}\n`;
  if (file === undefined) {
    print(json);
    return;
  }
  const fd = openNew(file, mode);
  try {
    writeFileSync(fd, json);
  } finally {
    closeSync(fd);
  }
}
