import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { ended, exampleOf, startAzure } from '../support/documented-commands.ts';
import { until } from '../support/until.ts';
import { cache, clients, whyNot } from './clients.ts';

/** By language: the command that the page shows, and where `prepare` has put what it names. */
const cases = [
  ['Go', clients.go, './reader', join(cache, 'go/reader'), 'Scheduled Reboot [web_0]'],
  ['Rust', clients.rust, './reader', join(cache, 'rust/reader'), '"Scheduled" "Reboot" ["web_0"]'],
  ['Java', clients.java, 'lib/*', join(cache, 'java/lib/*'), '"phase":"Scheduled"'],
] as const;

for (const [language, client, shown, real, record] of cases) {
  const reason = whyNot(client);
  test.skipIf(reason)(
    `the reader in ${language} of the page of clients reads a record${reason}`,
    {
      // See far-away.ts: here nothing stands between the client and the simulator.
      retry: language === 'Rust' ? 2 : 0,
    },
    async () => {
      using directory = temporaryDirectory(`reader-${language}`);
      const inShell = await startAzure(directory.path);
      const command = exampleOf('bash', language === 'Java' ? 'Reader.java' : shown).replace(shown, real);
      const reader = inShell(command.replace('Reader.java', join(cache, 'java/Reader.java')));
      const event = { phase: 'Scheduled', eventType: 'Reboot', affectedResources: ['web_0'] };
      const send = exampleOf('bash', 'token=').replace('{"phase": "Scheduled"}', JSON.stringify(event));
      expect(await ended(inShell(send))).toBe('');
      await until(() => reader.out().includes(record), { timeoutMs: 60_000, what: `a record; ${reader.err()}` });
    },
  );
}
