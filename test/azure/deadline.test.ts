import { expect, test } from 'vitest';
import { createDeadlines } from '../../src/azure/deadline.ts';
import { until } from '../support/until.ts';

const forever = (): Promise<never> => new Promise(() => {});

test('an answer in time is returned, a success as well as a failure', async () => {
  const deadlines = createDeadlines('the hub');
  expect(await deadlines.run('send', 1000, [], async () => 'answer')).toBe('answer');
  await expect(deadlines.run('send', 1000, [], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(deadlines.missed).toEqual({});
});

test('a call that throws before it gives a promise is a call that failed', async () => {
  const throwing = (): Promise<never> => {
    throw new TypeError('bad argument');
  };
  await expect(createDeadlines('the hub').run('send', 1000, [], throwing)).rejects.toThrow('bad argument');
});

test('a call that never answers and ignores its signal ends at the deadline, with an error that names it', async () => {
  const deadlines = createDeadlines('the hub');
  await expect(deadlines.run('upload', 10, [], forever)).rejects.toMatchObject({
    failure: { kind: 'retry', cause: 'transient', code: 'upload-timeout' },
    message: expect.stringContaining('the hub within 0.01 s'),
  });
  expect(deadlines.missed).toEqual({ upload: 1 });
});

test('a call that observes its signal is aborted at the deadline', async () => {
  let aborted: AbortSignal | null = null;
  const listening = (signal: AbortSignal): Promise<never> => {
    aborted = signal;
    return forever();
  };
  await createDeadlines('the hub')
    .run('send', 10, [], listening)
    .catch(() => {});
  expect(aborted).toMatchObject({ aborted: true });
});

test('one of several signals ends the wait at once', async () => {
  const [quiet, loud] = [new AbortController(), new AbortController()];
  const waiting = createDeadlines('the hub').run('send', 60_000, [quiet.signal, loud.signal], forever);
  loud.abort();
  await expect(waiting).rejects.toMatchObject({ failure: { code: 'aborted' } });
  await expect(createDeadlines('the hub').run('send', 1, [loud.signal], forever)).rejects.toMatchObject({
    failure: { code: 'aborted' },
  });
});

test('a late result or rejection of an abandoned call is caught and counted', async () => {
  const deadlines = createDeadlines('the hub');
  const rejections: unknown[] = [];
  const onRejection = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', onRejection);
  const late: { reject?: (error: Error) => void } = {};
  const call = () =>
    new Promise<never>((_, reject) => {
      late.reject = reject;
    });
  await deadlines.run('send', 1, [], call).catch(() => {});
  late.reject?.(new Error('too late'));
  await until(() => deadlines.lateSettles === 1);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', onRejection);
  expect(rejections).toEqual([]);
});
