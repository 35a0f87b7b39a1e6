import { systemClock } from '../../src/clock.ts';
import { createImds, type Imds, type ImdsOptions } from '../../src/imds/client.ts';
import type { RawServer } from './raw-server.ts';

/** Not disposed by itself: the last line of each test closes it. */
export function imdsAt(server: Pick<RawServer, 'url'>, options: Partial<ImdsOptions> = {}): Imds {
  return createImds({
    endpoint: server.url,
    apiVersion: '2020-07-01',
    timeoutMs: 5000,
    firstTimeoutMs: 5000,
    warm: () => true,
    clock: systemClock,
    ...options,
  });
}
