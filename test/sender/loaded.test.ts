import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { root } from '../support/source-tree.ts';

/** Packages that a script loads, itself and all that it imports. */
function packagesOf(script: string): string[] {
  const watched = `
    import { registerHooks } from 'node:module';
    const seen = new Set();
    registerHooks({ load(url, context, next) { seen.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]); return next(url, context); } });
    ${script}
    process.stdout.write(JSON.stringify([...seen].filter(Boolean)), () => process.exit());`;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', watched], {
    cwd: root,
    encoding: 'utf8',
    timeout: 25_000,
  });
  return JSON.parse(output);
}

const azure = (packages: readonly string[]): string[] => packages.filter((name) => /^@azure\/|^rhea/.test(name)).sort();

test('the process that polls loads no library of Azure', () => {
  const packages = packagesOf(`
    await import('./src/cli/run.ts');
    await import('./src/cli/program.ts');
    await import('./src/bridge.ts');
    await import('./src/sender/senders.ts');
    await import('./src/sinks/index.ts');`);
  expect(packages).toContain('undici');
  expect(azure(packages)).toEqual([]);
});

test.for([
  { role: 'event-hubs', has: '@azure/event-hubs', not: ['@azure/identity', '@azure/monitor-ingestion'] },
  { role: 'log-analytics', has: '@azure/monitor-ingestion', not: ['@azure/identity', '@azure/event-hubs', 'rhea'] },
  { role: 'tokens', has: '@azure/identity', not: ['@azure/event-hubs', '@azure/monitor-ingestion', 'rhea'] },
] as const)('the process for $role loads $has, and the libraries of no other', ({ role, has, not }) => {
  const config = {
    sinks: {
      eventHubs: { fullyQualifiedNamespace: 'localhost', eventHubName: 'x', connectionString: null, transport: 'amqp' },
      logAnalytics: { endpoint: 'https://localhost:1', ruleId: 'dcr-0', streamName: 'x' },
    },
    heartbeat: { streamName: 'y', eventHubs: true },
    identity: { clientId: null },
  };
  const packages = packagesOf(`
    const { serveSender } = await import('./src/sender/serve.ts');
    await new Promise((resolve) => {
      let receive;
      serveSender('${role}', { post: resolve, onMessage: (listener) => { receive = listener; } }, () => {});
      receive([{ kind: 'call', id: 1, name: 'begin', value: { config: ${JSON.stringify(config)} } }]);
    });`);
  expect(azure(packages)).toContain(has);
  expect(azure(packages).filter((name) => (not as readonly string[]).includes(name))).toEqual([]);
});
