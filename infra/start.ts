/** `npm start` in a clone: the simulator for its commands, the bridge for all others. */
import { fileURLToPath } from 'node:url';

const simulatorCommands = ['simulate', 'demo'];
const isSimulator = simulatorCommands.includes(process.argv[2] ?? '');
if (['--help', '-h', undefined].includes(process.argv[2]))
  process.stdout.write(
    'In a clone, npm start also runs the simulator: npm start -- simulate --help, npm start -- demo --help.\n\n',
  );
const program = new URL(isSimulator ? '../src/azure-simulator/main.ts' : '../src/main.ts', import.meta.url);
// Either program starts others of its kind from the file that it was started with.
process.argv[1] = fileURLToPath(program);
await import(program.href);
