import { alone, lockTimeoutMs } from './installer-lock.ts';
import { forbids } from './linux/preflight.ts';
import { createSystemd } from './linux/systemd.ts';
import { unitPath } from './linux/unit-file.ts';
import type { Machine } from './machine.ts';
import { Refusal } from './refusals.ts';

/** The service stops, and does not start at boot any more. Everything stays where it is. */
export async function disable({ places, env, clock, facts }: Machine): Promise<void> {
  const { isLive, ...rest } = facts();
  const forbidden = forbids(rest);
  if (forbidden !== null) throw forbidden;
  await alone(places.lock, { clock, timeoutMs: lockTimeoutMs }, async () => {
    if (unitPath(places) === null)
      throw new Refusal('notDone', 'The service is not installed here, so there is nothing to disable.');
    const systemd = createSystemd(env);
    await systemd.disable();
    if (isLive) await systemd.stop();
  });
}
