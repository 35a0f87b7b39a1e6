import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Each process gives ports of a range of its own. All ranges are below the ports that a system gives to those who ask for any (Linux: from
 * 32,768), and above the six of `simulate`: no other process takes the port between this answer and its use.
 */
const [lowest, ranges, perRange] = [17_000, 150, 100];
const range = lowest + (process.pid % ranges) * perRange;
let next = Math.floor(Math.random() * perRange);

/** A free port of 127.0.0.1; when several are requested, those right after it are free too. */
export async function freePort(count = 1): Promise<number> {
  for (let tries = 0; tries < perRange; tries += 1) {
    const offset = next + count > perRange ? 0 : next;
    next = offset + count;
    const ports = Array.from({ length: count }, (_, n) => range + offset + n);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return range + offset;
  }
  throw new Error(`no ${count} free ports from ${range}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
