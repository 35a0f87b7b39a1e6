import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { whyNoMachine } from './image.ts';
import { installed, openSite } from './site.ts';

test.skipIf(whyNoMachine)(
  `a bridge that hangs is ended by the watchdog of systemd and started again${whyNoMachine}`,
  async () => {
    await using site = await openSite('watchdog');
    const { machine } = site;
    await installed(site);
    const before = (await site.status()).service;
    await machine.ok(`kill -STOP ${before?.pid}`);
    const after = await until(
      async () => {
        const { service } = await site.status();
        return service?.active === 'active' && service.pid !== before?.pid ? service : null;
      },
      // WatchdogSec of the unit, and some for the way.
      { timeoutMs: 120_000, everyMs: 1_000, what: 'another process' },
    );
    expect(after.restarts).toBe(1);
    expect(await machine.ok('systemctl show --property=NRestarts --value scheduled-events-bridge')).toBe('1');
    expect((await machine.ok('journalctl --quiet --no-pager --output=cat')).split('\n')).toContainEqual(
      expect.stringContaining('Watchdog timeout'),
    );
    expect(await site.arrives(site.announce())).toMatchObject({ phase: 'Scheduled' });
  },
);
