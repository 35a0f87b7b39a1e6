import { InvalidArgumentError } from 'commander';
import type { Clock } from '../../clock.ts';
import type { FleetPage, FleetSource } from '../../fleet-page/server.ts';
import { Failure } from '../exit-codes.ts';

/** The port of `--web`. */
export function webPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('expected a port, 0 to 65535.');
  return port;
}

/** @throws Failure if the port cannot be used. */
export async function openFleetPageOn(source: FleetSource, port: number, clock?: Clock): Promise<FleetPage> {
  const { openFleetPage } = await import('../../fleet-page/server.ts');
  try {
    return await openFleetPage({ port, source, ...(clock && { clock }) });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'another program uses it' : message;
    throw new Failure('notDone', `Port ${port} cannot be used for the page (${why}): pass another one to --web.`);
  }
}
