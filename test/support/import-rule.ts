import { posix } from 'node:path';
import type { SourceTree } from './source-tree.ts';

/** One import of a source file. */
export interface Import {
  readonly from: string;
  /** Path of what is imported, or the name of a package. */
  readonly what: string;
  readonly typesOnly: boolean;
}

const everything = 'everything';
const stages = ['imds', 'lifecycle', 'outbox', 'relay', 'sinks'];

/**
 * Who may import what: areas, or single files, under src/. An area is a folder, or a file directly under src/ without its ending;
 * the command line of the simulator and the demo are areas of their own. Every area may import from itself.
 */
const mayImport: Readonly<Record<string, readonly string[] | typeof everything>> = {
  main: ['cli', 'process', 'sender'],
  // Nothing of the bridge imports the simulator.
  cli: everything,
  bridge: [
    ...stages,
    'azure/token-failure.ts',
    'approver',
    'requests',
    'health',
    'heartbeat',
    'host',
    'process',
    'sender',
    'service',
  ],
  approver: ['imds', 'lifecycle', 'outbox'],
  requests: ['approver', 'health', 'host', 'lifecycle', 'outbox', 'relay', 'service', 'sinks'],
  health: [
    'lifecycle/transition.ts',
    'outbox',
    'relay',
    'sinks',
    'azure',
    'sender/sender-process.ts',
    // The status pipe of Windows is asked by the service host.
    'service/names.ts',
    'service/windows/acl.ts',
    'service/windows/places.ts',
  ],
  heartbeat: ['outbox', 'sinks/sink.ts', 'config'],
  sender: ['sinks', 'heartbeat', 'azure', 'lifecycle', 'process'],
  relay: ['outbox', 'sinks/sink.ts'],
  sinks: ['azure', 'http', 'lifecycle', 'check', 'heartbeat/row.ts', 'heartbeat/sender.ts', 'config/schema.ts'],
  check: ['azure', 'lifecycle', 'sinks/sink.ts', 'service/windows/acl.ts'],
  imds: ['http', 'lifecycle'],
  outbox: ['lifecycle'],
  consumer: ['lifecycle'],
  // Reads the hub to which a sink sends, so it knows that sink's settings and what its errors mean.
  tail: [
    'consumer',
    'terminal',
    'azure',
    'http',
    'check/claims.ts',
    'sinks/sink.ts',
    'sinks/event-hubs/config.ts',
    'sinks/event-hubs/amqp-failure.ts',
    'sinks/event-hubs/remedy.ts',
    'sinks/event-hubs/web-sockets.ts',
  ],
  // A page for people beside a reader of the hub.
  'fleet-page': ['consumer'],
  service: ['host', 'health/moment.ts'],
  // A thin layer over the installer; its status shows what the service reports of itself.
  extension: ['service', 'config', 'health', 'process', 'sinks/registry.ts'],
  lifecycle: [],
  host: ['lifecycle'],
  azure: ['http', 'sinks/sink.ts'],
  http: [],
  recording: [],
  // The file format of recordings is all that it shares with the bridge.
  'azure-simulator': ['recording/format.ts'],
  // What every program needs of a command line: its process, its help, exit codes, and terminal styles.
  'azure-simulator/cli': [
    'azure-simulator',
    'azure-simulator/demo',
    'recording',
    'process',
    'cli/command-context.ts',
    'cli/command-line.ts',
    'cli/version.ts',
    'cli/exit-codes.ts',
    'cli/run-process.ts',
    'cli/wrap.ts',
    'config/did-you-mean.ts',
  ],
  // The demo runs bridges and reads what they sent.
  'azure-simulator/demo': everything,
  config: ['sinks/registry.ts', 'host/in-cluster.ts'],
  log: [],
  clock: [],
  'fault-point': [],
  'operating-system': [],
  terminal: [],
  process: [],
};

/** These know nothing of the rest of src/, not even log, clock and fault points. */
const alone = ['lifecycle', 'azure-simulator', 'recording', 'consumer'];

/** A package of its own: it takes types from elsewhere, and no code. */
const typesOnlyElsewhere = ['consumer'];

/** Every import that breaks the rule, as a sentence. */
export function brokenImports(tree: SourceTree): string[] {
  return [...tree].flatMap(([path, text]) => importsOf(path, text)).flatMap(judge);
}

function judge({ from, what, typesOnly }: Import): string[] {
  if (!what.startsWith('src/')) return [];
  const [importer, imported] = [areaOf(from), areaOf(what)];
  if (importer === imported) return [];
  if (isSimulator(imported) && !isSimulator(importer)) {
    return [`${from} imports ${what}: nothing of the bridge may import the simulator`];
  }
  if (typesOnlyElsewhere.includes(importer) && !typesOnly) {
    return [`${from} imports ${what}: ${importer} may take only types from elsewhere`];
  }
  const allowed = mayImport[importer];
  if (allowed === undefined) return [`${from} is in ${importer}, which has no row in the import rule`];
  if (allowed === everything || allowed.includes(imported) || allowed.includes(what.slice('src/'.length))) return [];
  const forAll =
    ['log', 'clock', 'operating-system', 'fault-point'].includes(imported) || (imported === 'config' && typesOnly);
  if (forAll && !alone.includes(importer)) return [];
  const also = imported === 'config' && !typesOnly ? ' (only its types)' : '';
  return [`${from} imports ${what}: ${importer} may not import ${imported}${also}`];
}

const isSimulator = (area: string): boolean => area.startsWith('azure-simulator');

function areaOf(path: string): string {
  const [program] = /^azure-simulator\/(cli|demo)\//.exec(path.slice('src/'.length)) ?? [];
  if (program !== undefined) return program.slice(0, -1);
  if (path === 'src/azure-simulator/main.ts') return 'azure-simulator/cli';
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '');
}

/** Imports and re-exports, dynamic ones included. */
export function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, typesOnly: boolean): void => {
    const what = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier;
    found.push({ from: path, what, typesOnly });
  };
  const code = withoutComments(text);
  for (const [, clause = '', specifier = ''] of code.matchAll(
    /^\s*(?:import|export)\b([^'"`;=()]*?)\bfrom\s*['"]([^'"]+)['"]/gm,
  )) {
    add(specifier, isTypesOnly(clause));
  }
  for (const [, specifier = ''] of code.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm)) add(specifier, false);
  for (const [, specifier = ''] of code.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)) add(specifier, false);
  return found;
}

function isTypesOnly(clause: string): boolean {
  if (/^\s*type\b/.test(clause)) return true;
  const [, names] = /^\s*\{([^}]*)\}\s*$/.exec(clause) ?? [];
  return names?.split(',').every((name) => /^\s*(type\s|$)/.test(name)) ?? false;
}

/** Line comments only where they begin a line or follow a blank, so that a URL in a string stays. */
export function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}
