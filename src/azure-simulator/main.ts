import { runProcess } from '../cli/run-process.ts';

runProcess(async (commandContext) => {
  const { createProgram } = await import('./cli/program.ts');
  await createProgram(commandContext).parseAsync();
});
