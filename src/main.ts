import { Failure } from './cli/exit-codes.ts';
import { runProcess } from './cli/run-process.ts';
import { isSender, runSender } from './sender/run-sender.ts';

runProcess(async (commandContext) => {
  // A sender loads no command line, so that it is ready soon and small.
  if (isSender(process.argv)) {
    const refusal = await runSender(process.argv);
    if (refusal !== null) throw new Failure('unexpected', refusal);
    return;
  }
  const { createProgram } = await import('./cli/program.ts');
  await createProgram(commandContext).parseAsync();
});
