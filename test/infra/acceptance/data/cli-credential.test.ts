import { expect, test } from 'vitest';
import { shareTokens } from '../../../../infra/acceptance/data/cli-credential.ts';

const minute = 60_000;
const noWait = () => Promise.resolve();

/** A CLI whose calls fail so often, and that notices calls at the same time. */
function createCli({ failures = 0, validMs = 60 * minute } = {}) {
  const calls: string[] = [];
  let running = 0;
  let left = failures;
  return {
    calls,
    async getToken(scope: string | string[]) {
      calls.push(String(scope));
      running += 1;
      await Promise.resolve();
      expect(running).toBe(1);
      running -= 1;
      left -= 1;
      if (left >= 0) throw new Error("Please run 'az login'");
      return { token: `${scope} ${calls.length}`, expiresOnTimestamp: Date.now() + validMs };
    },
  };
}

test('calls at the same time share one call of the CLI for each scope', async () => {
  const cli = createCli();
  const { getToken } = shareTokens(cli, noWait);
  const tokens = await Promise.all(['hub', 'logs', 'hub', 'logs'].map((scope) => getToken(scope)));
  expect(tokens.map(({ token }) => token)).toEqual(['hub 1', 'logs 2', 'hub 1', 'logs 2']);
  expect(cli.calls).toEqual(['hub', 'logs']);
});

test('a token that is about to end is fetched again', async () => {
  const cli = createCli({ validMs: minute });
  const { getToken } = shareTokens(cli, noWait);
  expect((await getToken('hub')).token).toBe('hub 1');
  expect((await getToken('hub')).token).toBe('hub 2');
});

test('a call that fails is made again three times, and does not hold up the next one', async () => {
  const passing = createCli({ failures: 3 });
  expect((await shareTokens(passing, noWait).getToken('hub')).token).toBe('hub 4');
  const failing = shareTokens(createCli({ failures: 4 }), noWait);
  await expect(failing.getToken('hub')).rejects.toThrow("Please run 'az login'");
  expect((await failing.getToken('hub')).token).toBe('hub 5');
});
