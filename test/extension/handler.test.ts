import { expect, test } from 'vitest';
import { handlerVersion } from '../../src/extension/handler.ts';
import { version } from '../../src/process/version.ts';

const named = 'AZURE_GUEST_AGENT_EXTENSION_VERSION';

test.for([
  { folder: '/var/lib/waagent/Contoso.Bridge-1.0.0', env: { [named]: '1.0.0.2' }, is: '1.0.0.2' },
  { folder: '/var/lib/waagent/Contoso.Bridge-1.0.0.3', env: {}, is: '1.0.0.3' },
  { folder: 'C:\\Packages\\Plugins\\Contoso.Bridge\\1.12.0', env: {}, is: '1.12.0' },
  { folder: '/tmp/handler', env: { [named]: '' }, is: version },
])('the handler in $folder has the version $is', ({ folder, env, is }) => {
  expect(handlerVersion({ folder, env })).toBe(is);
});
