import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { mainFile } from '../support/program.ts';
import { sampleRecord } from '../support/sample-record.ts';

const records = 300;

test.skipIf(process.platform === 'win32')('all that is printed reaches a reader that is slow', () => {
  using directory = temporaryDirectory('slow-reader');
  const outbox = openOutbox({
    directory: directory.path,
    sinks: ['event-hubs'],
    maxMegabytes: 64,
    clock: systemClock,
    log: silentLog,
    version: '0.1.0',
  });
  const { streamId } = outbox.state;
  outbox.append(
    { ...outbox.state, position: records },
    Array.from({ length: records }, (_, index) =>
      sampleRecord({ recordId: `record-${index + 1}`, position: index + 1, streamId }),
    ),
  );
  outbox.close();
  const config = join(directory.path, 'config.json');
  writeFileSync(
    config,
    JSON.stringify({
      stateDirectory: directory.path,
      sinks: { eventHubs: { fullyQualifiedNamespace: 'x.servicebus.windows.net', eventHubName: 'vm-lifecycle' } },
    }),
  );
  // The pipe holds 64 KB, so the process would long be at its end when the first byte is taken.
  const command = `"${process.execPath}" "${mainFile}" outbox export --config "${config}" | (sleep 2; cat)`;
  const lines = execFileSync('sh', ['-c', command], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
    .trim()
    .split('\n');
  expect(lines).toHaveLength(records);
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ position: records });
});
