import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { root } from './source-tree.ts';
import { until } from './until.ts';

export interface Running {
  readonly out: () => string;
  readonly err: () => string;
  readonly child: ChildProcess;
}

/** Runs a command line of a document in a shell; it and all that it starts ends with the test. */
export function run(line: string, { env = process.env, shell = 'sh' } = {}): Running {
  const child = spawn(shell, ['-c', line], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise((resolve) => child.once('close', resolve));
  onTestFinished(async () => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
    await exited;
  });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (text.out += chunk));
  child.stderr.on('data', (chunk) => (text.err += chunk));
  return { child, out: () => text.out, err: () => text.err };
}

/** The fenced blocks of a document, with their language. */
export function blocksOf(path: string): { readonly language: string; readonly text: string }[] {
  const found = readFileSync(join(root, path), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...found].map(([, language = '', text = '']) => ({ language, text }));
}

/** Where the documents name `local-azure`, the test has a directory of its own, and free ports. */
export const inDirectory = (command: string, directory: string): string =>
  command.replaceAll('local-azure', directory).replace(/^npm start -- simulate\b.*$/m, (line) => `${line} --port 0`);

/** Until it says that it waits for the viewer. */
export const ready = (simulate: Running) =>
  until(() => /first poll|No scenario/.test(simulate.out()), { timeoutMs: 30_000, what: `it; ${simulate.err()}` });

const clientsPages = ['infra/examples/local-azure.md', 'infra/examples/clients.md'];

/** The first block of the pages about clients in a language that contains a word. */
export function exampleOf(language: string, word: string): string {
  const found = clientsPages.flatMap(blocksOf).find((one) => one.language === language && one.text.includes(word));
  if (found === undefined) throw new Error(`${clientsPages.join(' and ')} have no ${language} with ${word}`);
  return found.text;
}

/** The simulator as the page of clients starts it; answers with what follows in a shell that has sourced the variables. */
export async function startAzure(directory: string): Promise<(line: string, more?: NodeJS.ProcessEnv) => Running> {
  await ready(run(inDirectory(exampleOf('bash', 'simulate'), directory)));
  const source = inDirectory(exampleOf('bash', '. local-azure').trim(), directory);
  return (line, more = {}) => run(`${source}\n${inDirectory(line, directory)}`, { env: { ...process.env, ...more } });
}

/** Waits for the end of what went well. @returns what it said. */
export async function ended({ child, out, err }: Running): Promise<string> {
  await until(() => child.exitCode !== null, { timeoutMs: 60_000, what: `its end; ${err()}` });
  expect({ code: child.exitCode, err: err() }).toEqual({ code: 0, err: '' });
  return out();
}
