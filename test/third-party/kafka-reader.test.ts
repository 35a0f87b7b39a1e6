import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { readHistories } from '../infra/examples/histories/read.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { clients, run, whyNot } from './clients.ts';

const reason = whyNot(clients.python);

test.skipIf(reason)(`the Kafka reader decodes headers and prints the records${reason}`, async () => {
  using directory = temporaryDirectory('kafka');
  const histories = readHistories();
  const messages = ['foreign-messages', 'later-versions', 'tests'].flatMap((name) =>
    (histories.get(name)?.runs ?? []).flatMap(({ before, steps }) => [
      ...before,
      ...steps.flatMap((step) => step.messages),
    ]),
  );
  const file = join(directory.path, 'messages.json');
  writeFileSync(file, JSON.stringify(messages));
  const printed = [
    'Scheduled Freeze foreign_0',
    'Completed Freeze foreign_0',
    // A reader that only prints shows phases that it does not know.
    'Postponed Freeze later_0',
    'Scheduled Hibernate later_0',
    'Postponed Hibernate later_0',
    'Completed Hibernate later_0',
    'Scheduled Freeze tests_0',
    'Completed Freeze tests_0',
  ];
  const azure = await startAzureSimulator();
  try {
    const script = 'test/third-party/python/kafka_headers.py';
    const { read, ...saw } = await run(azure, clients.python, script, file, String(printed.length));
    expect(saw).toEqual({
      recorded: '1',
      specification: 'http://example.org/hello-world',
      "of Microsoft's encoder": [true, true, true, true, true],
      plain: 'käse',
      // The two that claim to be records and are none.
      complaints: [expect.stringMatching(/JSONDecodeError/), expect.stringMatching(/KeyError\('isTest'\)/)],
    });
    expect((read as string[]).map((line) => line.replace(/^\S+ /, '')).toSorted()).toEqual(printed.toSorted());
  } finally {
    await azure.close();
  }
});
