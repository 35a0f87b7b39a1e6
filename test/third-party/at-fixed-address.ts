import { spawn } from 'node:child_process';
import { startAzureSimulator } from '../../src/azure-simulator/index.ts';

/**
 * Runs a program on a metadata service at the address that Azure's has, for programs that can be told no other. In a network of its own:
 * `unshare --net sh -c 'ip link set lo up && ip address add 169.254.169.254/32 dev lo && node at-fixed-address.ts PROGRAM'`.
 */
const azure = await startAzureSimulator({ host: '169.254.169.254', ports: { imds: 80 } });
for (const event of JSON.parse(process.env.EVENTS ?? '[]')) azure.imds.schedule(event);
const [program = '', ...args] = process.argv.slice(2);
const child = spawn(program, args, { stdio: 'inherit', env: { ...process.env, SIMULATOR: '{}' } });
child.on('close', async (code) => {
  console.log(JSON.stringify({ check: 'approvals', saw: azure.imds.approvals.map(({ eventId }) => eventId) }));
  await azure.close();
  for (const error of azure.errors) console.error(error);
  process.exit(azure.errors.length > 0 ? 1 : (code ?? 1));
});
