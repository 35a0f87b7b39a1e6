import { parseArgs } from 'node:util';
import { decide } from './decide.ts';
import { drain } from './drain.ts';
import { fleet } from './fleet/fleet.ts';
import { footprint } from './footprint/footprint.ts';
import { latency } from './latency.ts';
import { packageSizes } from './package/package.ts';
import { page } from './page.ts';
import { start } from './start/start.ts';

const usage = `npm run bench -- <footprint|start|package|page|decide> [--starts 9] [--seconds 60]
npm run bench -- latency [--events 200] [--starts 3] [--json FILE]
npm run bench -- drain [--runs 5] [--records 200000] [--per-event 4,700] [--to hub,table,both] [--node-options=--cpu-prof] [--json FILE]
npm run bench -- fleet [--vms 1000,10000] [--shards 1] [--only rolling,zone,reboot,spot] [--rules] [--seed 1,2] [--svg FILE]
  simulates fleets of VMs. One simulation takes about 4 s of CPU for each 1,000 VMs of the scenarios rolling and reboot, a third of that
  for zone, a tenth for spot: 100,000 VMs up to 8 min and 4 GB. --rules compares rules for the connection to the event hub.
`;

/** `npm run bench -- <name>`: figures of this machine, for people to read; nothing is asserted. */
const benches = { footprint, page, decide, start, package: packageSizes };

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    starts: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '60' },
    vms: { type: 'string', default: '1000,10000' },
    only: { type: 'string', default: '' },
    svg: { type: 'string' },
    seed: { type: 'string', default: '1' },
    shards: { type: 'string', default: '1' },
    rules: { type: 'boolean', default: false },
    runs: { type: 'string', default: '5' },
    events: { type: 'string', default: '200' },
    records: { type: 'string', default: '200000' },
    'per-event': { type: 'string', default: '4,700' },
    to: { type: 'string', default: 'hub,table,both' },
    json: { type: 'string' },
    'node-options': { type: 'string', default: '' },
  },
});
const [name] = positionals;
const bench = Object.entries(benches).find(([one]) => one === name)?.[1];
if (name === 'fleet') {
  const vms = values.vms.split(',').map(Number);
  await fleet({
    vms,
    shards: Number(values.shards),
    only: values.only.split(',').filter(Boolean),
    svg: values.svg ?? null,
    seeds: values.seed.split(',').map(Number),
    compareRules: values.rules,
  });
} else if (name === 'latency') {
  await latency({ events: Number(values.events), starts: Number(values.starts), json: values.json ?? null });
} else if (name === 'drain') {
  await drain({
    runs: Number(values.runs),
    records: Number(values.records),
    perEvent: values['per-event'].split(',').map(Number),
    to: values.to.split(','),
    json: values.json ?? null,
    nodeOptions: values['node-options'],
  });
} else if (bench) await bench({ starts: Number(values.starts), seconds: Number(values.seconds) });
else {
  process.stderr.write(usage);
  process.exit(2);
}
process.exit(0);
