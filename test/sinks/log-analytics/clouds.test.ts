import { expect, test } from 'vitest';
import { cloudName, monitorScope } from '../../../src/sinks/log-analytics/clouds.ts';

const hosts: { host: string; cloud: string; scope: string }[] = [
  {
    host: 'x-a1b2.westeurope-1.ingest.monitor.azure.com',
    cloud: 'public',
    scope: 'https://monitor.azure.com/.default',
  },
  {
    host: 'x-a1b2.usgovvirginia-1.ingest.monitor.azure.us',
    cloud: 'US Government',
    scope: 'https://monitor.azure.us/.default',
  },
  { host: 'x-a1b2.chinanorth3-1.ingest.monitor.azure.cn', cloud: 'China', scope: 'https://monitor.azure.cn/.default' },
  { host: 'X.INGEST.MONITOR.AZURE.US.', cloud: 'US Government', scope: 'https://monitor.azure.us/.default' },
  { host: 'x.servicebus.windows.net', cloud: 'public', scope: 'https://monitor.azure.com/.default' },
  { host: 'x.servicebus.usgovcloudapi.net', cloud: 'US Government', scope: 'https://monitor.azure.us/.default' },
  { host: 'x.servicebus.chinacloudapi.cn', cloud: 'China', scope: 'https://monitor.azure.cn/.default' },
  { host: 'localhost', cloud: 'public', scope: 'https://monitor.azure.com/.default' },
  { host: 'azure.us.example.org', cloud: 'public', scope: 'https://monitor.azure.com/.default' },
];
for (const { host, cloud, scope } of hosts) {
  test(`${host} belongs to the ${cloud} cloud`, () => {
    expect({ cloud: cloudName(host), scope: monitorScope(host) }).toEqual({ cloud, scope });
  });
}
