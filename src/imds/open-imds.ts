import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { createImds, type Imds } from './client.ts';
import { createDiscovery } from './discover.ts';

/** The metadata service as configured. `warm`: whether Scheduled Events is known to be enabled. */
export const openImds = (
  { imds }: Pick<Config, 'imds'>,
  { warm, clock, log }: { readonly warm: () => boolean; readonly clock: Clock; readonly log: Log },
): Imds =>
  createImds({
    endpoint: imds.endpoint === 'auto' ? createDiscovery({ clock, log }) : imds.endpoint,
    apiVersion: imds.apiVersion,
    timeoutMs: 1000 * imds.timeoutSeconds,
    firstTimeoutMs: 1000 * imds.firstTimeoutSeconds,
    warm,
    clock,
  });
