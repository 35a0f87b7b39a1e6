import { expect, test } from 'vitest';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';
import { clients, run, whyNot } from './clients.ts';

const cases = [
  ['azlogs for Go', clients.go, 'logs'],
  ['azure-monitor-ingestion for Java', clients.java, 'logs'],
  ['azure-monitor-ingestion for Python', clients.python, 'test/third-party/python/logs_ingestion.py'],
] as const;

for (const [name, client, script] of cases) {
  const reason = whyNot(client);
  test.skipIf(reason)(`${name} waits where it is throttled, uploads rows and is refused${reason}`, async () => {
    const columns = [
      { name: 'TimeGenerated', type: 'datetime' },
      { name: 'RecordId', type: 'string' },
      { name: 'Text', type: 'string' },
    ];
    const azure = await startAzureSimulator({ streams: { 'Custom-VmLifecycle_CL': columns } });
    const { logAnalytics } = azure;
    logAnalytics.fault({ status: 429, headers: { 'retry-after': '1' } }, 1);
    expect(await run(azure, client, script)).toEqual({ rows: 3, 'a wrong rule': 404 });
    expect(logAnalytics.requests.map(({ status }) => status)).toEqual([429, 204, 404]);
    const rows = ['0', '1', '2'].map((RecordId) => ({ TimeGenerated: expect.any(String), RecordId, Text: 'käse' }));
    expect(logAnalytics.rows()).toEqual(rows);
    await azure.close();
    expect(azure.errors).toEqual([]);
  });
}
