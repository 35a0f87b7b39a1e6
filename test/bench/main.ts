import { parseArgs } from 'node:util';
import { drain } from './drain.ts';
import { footprint } from './footprint.ts';
import { latency } from './latency.ts';
import { page } from './page.ts';

/** `npm run bench -- <name>`: figures of this machine, for people to read; nothing is asserted. */
const benches = { footprint, drain, latency, page };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { starts: { type: 'string', default: '3' }, seconds: { type: 'string', default: '20' } },
});
const bench = Object.entries(benches).find(([name]) => name === positionals[0])?.[1];
if (bench) await bench({ starts: Number(values.starts), seconds: Number(values.seconds) });
else process.stderr.write(`npm run bench -- <${Object.keys(benches).join('|')}> [--starts 3] [--seconds 20]\n`);
process.exit(bench ? 0 : 2);
