/** The program in the zip of a test: the command `extension` on a machine in a folder, on which waiting takes no time. */

import { createCommandLine } from '../../src/cli/command-line.ts';
import { addExtensionOf } from '../../src/cli/extension/command.ts';
import { handlerOn } from '../../src/cli/extension/open-handler.ts';
import { runProcess } from '../../src/cli/run-process.ts';
import type { Machine } from '../../src/service/machine.ts';
import { machineIn, quickClock } from '../service/machine-in.ts';

const { TEST_ROOT: root = '', TEST_VERSION: version = '', TEST_KILLED_AFTER: killedAfter = '' } = process.env;

runProcess(async (commandContext) => {
  const { env, print } = commandContext;
  const clock = quickClock();
  const program = createCommandLine(
    {
      name: 'scheduled-events-bridge',
      description: 'the program of a test',
      verbs: [
        addExtensionOf((folder) => handlerOn(killed(machineIn({ root, env, clock })), folder, env)),
        (parent) => void parent.command('version').action(() => print(`scheduled-events-bridge ${version}\n`)),
      ],
      exitReasons: [],
    },
    commandContext,
  );
  await program.parseAsync();
});

/** Ends this process as `kill -9` does, after this many steps of the installer. */
function killed(machine: Machine): Machine {
  let left = killedAfter === '' ? Number.POSITIVE_INFINITY : Number(killedAfter);
  return {
    ...machine,
    system: {
      ...machine.system,
      async perform(step, material) {
        await machine.system.perform(step, material);
        left -= 1;
        if (left <= 0) process.kill(process.pid, 'SIGKILL');
      },
    },
  };
}
