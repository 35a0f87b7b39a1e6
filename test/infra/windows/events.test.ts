import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../support/source-tree.ts';

const read = (name: string): string => readFileSync(join(root, 'infra/windows/service-host', name), 'utf8');

test('the README of the service host lists every event with its level, and every parameter with its default', () => {
  const levels = new Map([
    ['Informational', 'information'],
    ['Warning', 'warning'],
    ['Error', 'error'],
  ]);
  const defined = [...read('messages.mc').matchAll(/^MessageId=(\d+)\nSeverity=(\w+)$/gm)].map(([, id, severity]) => [
    id,
    levels.get(String(severity)),
  ]);
  const readme = read('README.md');
  expect(defined.length).toBeGreaterThan(5);
  expect([...readme.matchAll(/^\| (\d+) \| (\w+) \|/gm)].map(([, id, level]) => [id, level])).toEqual(defined);

  const parameters = [...read('settings.c').matchAll(/parameter\(service, L"(\w+)", (\d+)\)/g)];
  const documented = [...readme.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| ([\d, ]+) \|/gm)].flatMap(
    ([, names, defaults]) => {
      const values = String(defaults).split(', ');
      return String(names)
        .split(', ')
        .map((name, at) => [name.replaceAll('`', ''), values[at]]);
    },
  );
  expect(documented.toSorted()).toEqual(parameters.map(([, name, value]) => [name, value]).toSorted());
});
