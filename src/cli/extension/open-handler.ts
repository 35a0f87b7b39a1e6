import { resolve } from 'node:path';
import { type Clock, systemClock } from '../../clock.ts';
import type { Handler } from '../../extension/handler.ts';
import { readHandlerEnvironment } from '../../extension/handler-environment.ts';
import { type HandlerLog, noLog, openHandlerLog } from '../../extension/handler-log.ts';
import { askService } from '../../health/status-client.ts';
import type { Machine } from '../../service/machine.ts';
import type { CommandContext } from '../command-context.ts';
import { pathOf, thisMachine } from '../service/machine.ts';

/** The handler in this folder, for the machine that this process runs on. */
export async function openHandler(folder: string, commandContext: CommandContext): Promise<Handler> {
  const { env } = commandContext;
  const own = process.platform === 'win32' ? env : { ...env, PATH: pathOf(env) };
  return handlerOn(thisMachine(commandContext), resolve(folder), own);
}

/** What the installer says goes to the log: Azure shows the beginning of stdout, which is to be the result. */
export async function handlerOn(machine: Machine, folder: string, env: NodeJS.ProcessEnv): Promise<Handler> {
  const { clock } = machine;
  const log = await logIn(folder, clock);
  return {
    machine: { ...machine, say: (sentence) => log.write(sentence) },
    folder,
    env,
    platform: process.platform,
    clock: systemClock,
    log,
    askService: () => askService(machine.system.places.state, clock),
  };
}

/** A command that needs the folders of the guest agent says itself that it does not find them. */
async function logIn(folder: string, clock: Clock): Promise<HandlerLog> {
  try {
    const { logFolder } = await readHandlerEnvironment(folder, clock);
    return openHandlerLog(logFolder, clock.now);
  } catch {
    return noLog;
  }
}
