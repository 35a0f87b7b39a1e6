import { expect, test } from 'vitest';
import { createRandom } from '../../fleet-model/random.ts';
import { afterPowerCut, type Files, type Unconfirmed } from './power-cut.ts';
import type { LoggedCall } from './shim.ts';

const call = (name: LoggedCall['call'], path: string, rest: Partial<LoggedCall> = {}): LoggedCall => ({
  call: name,
  path,
  offset: 0,
  length: rest.data?.length ?? 0,
  other: '-',
  data: null,
  ...rest,
});
const write = (path: string, text: string, offset = 0): LoggedCall =>
  call('write', path, { data: Buffer.from(text), offset });
const create = (path: string): LoggedCall => call('open', path, { offset: 0o102 });

const left = (calls: readonly LoggedCall[], unconfirmed: Unconfirmed, seed = 1): Record<string, string> => {
  const before: Files = new Map([['/d/a', Buffer.from('old')]]);
  const files = afterPowerCut(before, calls, unconfirmed, createRandom(seed));
  return Object.fromEntries([...files].map(([path, bytes]) => [path, String(bytes)]));
};

test('of a file that was not flushed there is nothing or everything', () => {
  const calls = [write('/d/a', 'new')];
  expect(left(calls, 'none')).toEqual({ '/d/a': 'old' });
  expect(left(calls, 'all')).toEqual({ '/d/a': 'new' });
});

test('a flush keeps what was written before it, of its own file', () => {
  const calls = [create('/d/b'), write('/d/b', 'b'), call('fsync', '/d'), write('/d/a', 'new'), call('fsync', '/d/a')];
  expect(left([...calls, write('/d/a', 'later')], 'none')).toEqual({ '/d/a': 'new', '/d/b': '' });
});

test('a new name is there once its folder was flushed, with the content of its file', () => {
  const calls = [create('/d/b'), write('/d/b', 'b'), call('fsync', '/d/b'), call('rename', '/d/b', { other: '/d/a' })];
  expect(left(calls, 'none')).toEqual({ '/d/a': 'old' });
  expect(left([...calls, call('fsync', '/d')], 'none')).toEqual({ '/d/a': 'b' });
});

test('names change in their order', () => {
  const calls = [create('/d/b'), call('rename', '/d/a', { other: '/d/c' }), call('unlink', '/d/b')];
  const seen = new Set(
    Array.from({ length: 40 }, (_, seed) =>
      Object.keys(left(calls, 'any', seed))
        .sort()
        .join(' '),
    ),
  );
  expect([...seen].sort()).toEqual(['/d/a', '/d/a /d/b', '/d/b /d/c', '/d/c']);
});

test('sectors that were not flushed are kept or not, each on its own', () => {
  const calls = [write('/d/a', 'x'.repeat(1024))];
  const seen = new Set(
    Array.from({ length: 60 }, (_, seed) => {
      const { '/d/a': text = '' } = left(calls, 'any', seed);
      return `${text[0] === 'x' ? 1 : 0}${text[512] === 'x' ? 1 : 0}`;
    }),
  );
  expect([...seen].sort()).toEqual(['00', '01', '10', '11']);
});
