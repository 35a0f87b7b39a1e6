import { alone, lockTimeoutMs } from './installer-lock.ts';
import type { Machine } from './machine.ts';
import { Refusal } from './refusals.ts';

/** The service stops, and does not start at boot any more. Everything stays where it is. */
export async function disable({ system, clock }: Machine): Promise<void> {
  const { isLive, forbidden } = await system.conditions();
  if (forbidden !== null) throw forbidden;
  await alone(system.places.lock, { clock, timeoutMs: lockTimeoutMs }, async () => {
    const { unit } = await system.inspect(null);
    if (unit === null)
      throw new Refusal('notDone', 'The service is not installed here, so there is nothing to disable.');
    await system.manager.disable();
    if (isLive) await system.manager.stop();
  });
}
