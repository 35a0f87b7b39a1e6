import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/source-tree.ts';

test.for(['infra/package/main.ts', 'infra/bridge-configuration.ts', 'infra/costs.ts'])(
  '%s --help ends without an error when its reader has closed',
  async (script) => {
    const child = spawn(process.execPath, [join(root, script), '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (chunk) => (stderr += chunk));
    const [code] = await once(child, 'close');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  },
);
