import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from './bridge.ts';
import type { History, Run } from './history.ts';

export const folder = join(import.meta.dirname, '../../../../infra/examples/histories');

/** A list with one item on each line. */
const lines = (items: readonly unknown[], indent: string): string =>
  items.length === 0 ? '[]' : `[\n${items.map((item) => `${indent}  ${JSON.stringify(item)}`).join(',\n')}\n${indent}]`;

const runText = ({ before, acts, steps, killedDuring }: Run): string => `    {
      "before": ${lines(before, '      ')},
      "acts": ${JSON.stringify(acts)},
      "steps": [${steps
        .map(
          (step) => `
        {
          "messages": ${lines(step.messages, '          ')},
          "acts": ${JSON.stringify(step.acts)}
        }`,
        )
        .join(',')}${steps.length > 0 ? '\n      ' : ''}]${
        killedDuring === undefined ? '' : `,\n      "killedDuring": ${JSON.stringify(killedDuring)}`
      }
    }`;

/** A history as its file has it: one message on each line. */
export const textOf = ({ title, rule, runs }: History): string => `{
  "title": ${JSON.stringify(title)},
  "rule": ${JSON.stringify(rule)},
  "runs": [
${runs.map(runText).join(',\n')}
  ]
}
`;

export function writeHistories(histories: ReadonlyMap<string, string>): void {
  for (const [name, text] of histories) writeFileSync(join(folder, `${name}.json`), text);
}

/** The files, by name. */
export const historyFiles = (): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .sort()
      .map((name) => [name.replace(/\.json$/, ''), readFileSync(join(folder, name), 'utf8')]),
  );

/** The histories, moved to the hours before now as the README of the folder says: a subscriber may forget events that ended a day ago. */
export function readHistories(now = new Date()): ReadonlyMap<string, History> {
  const hour = (before: number): string => new Date(now.getTime() - before * 3_600_000).toISOString().slice(0, 14);
  const moved = (text: string): string =>
    text.replaceAll('2026-03-14T09:', hour(2)).replaceAll('2026-03-14T10:', hour(1));
  return new Map([...historyFiles()].map(([name, text]) => [name, JSON.parse(moved(text)) as History]));
}

/** The bytes of a message. */
export const bodyOf = ({ body, bodyBase64 }: Message): Buffer =>
  bodyBase64 === undefined ? Buffer.from(JSON.stringify(body)) : Buffer.from(bodyBase64, 'base64');

/** VMs do not wait for each other: only the order of one VM's acts is certain. */
export const byVm = (acts: readonly string[]): readonly string[] =>
  acts.toSorted((a, b) => (a.split(' ')[1] ?? '').localeCompare(b.split(' ')[1] ?? ''));

/** The state as it is when the subscriber is killed during the drain of these VMs. */
export function interrupted(state: string, vms: readonly string[]): string {
  const { drained, ...rest } = JSON.parse(state);
  for (const { vm, events } of Object.values<{ vm: { name: string }; events: Record<string, string> }>(drained))
    for (const id of vms.includes(vm.name) ? Object.keys(events) : []) events[id] = 'draining';
  return JSON.stringify({ drained, ...rest });
}
