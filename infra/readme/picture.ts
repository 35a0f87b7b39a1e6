import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beginning, fold, type Show } from '../../src/azure-simulator/demo/model.ts';
import type { Moment } from '../../src/azure-simulator/demo/moment.ts';
import { playOneVm, vm } from '../../src/azure-simulator/demo/one-vm.ts';
import { frame } from '../../src/azure-simulator/demo/picture/frame.ts';
import { piece, type Row } from '../../src/azure-simulator/demo/picture/ink.ts';
import { onStage } from '../../src/azure-simulator/demo/stage.ts';
import { summarize } from '../../src/azure-simulator/demo/summary.ts';
import type { Verdict } from '../../src/azure-simulator/demo/verdict.ts';
import { type Still, toSvg } from './svg.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const columns = 100;
/** One still for so many seconds of the show. */
const everySeconds = 2;
const stillMs = 800;
const lastMs = 6000;

/** Plays the demo as it is and keeps what happened: the picture is of a real run. */
async function record(): Promise<{ moments: readonly Moment[]; verdict: Verdict; show: Show }> {
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-events-bridge-picture-'));
  const moments: Moment[] = [];
  const recorded: { seen: Awaited<ReturnType<typeof playOneVm>> } = { seen: null };
  const stop = new AbortController().signal;
  const options = {
    directory,
    entry: join(root, 'src/azure-simulator/main.ts'),
    env: process.env,
    stop,
    print: () => {},
  };
  try {
    await onStage(options, { vms: [vm], height: () => 0 }, async (stage) => {
      const happened = (moment: Moment): void => void moments.push(moment);
      recorded.seen = await playOneVm(stage, options, { happened, tick: () => {} });
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (!recorded.seen || recorded.seen.verdict.complaints.length > 0) throw new Error('the demo did not end well');
  return { moments, ...recorded.seen };
}

const { moments, verdict, show } = await record();
const end = Math.max(...moments.map(({ at }) => at)) + 0.4;
const times = [...Array.from({ length: Math.floor(end / everySeconds) }, (_, n) => (n + 1) * everySeconds), end];
const summary = summarize(verdict, show);
const agreement = summary.slice(summary.findIndex((row) => row.some(({ text }) => text.includes('They agree'))));
const stills = times.map((at, n): Still => {
  const isLast = n === times.length - 1;
  const soFar = moments.filter((moment) => moment.at <= at).reduce(fold, beginning);
  const prompt: Row = [piece(' $ ', 'ended'), piece('npm run demo', 'strong')];
  const rows = [prompt, [], ...frame(soFar, at, columns), [], ...(isLast ? agreement : [])];
  return { rows, ms: isLast ? lastMs : stillMs };
});
const file = join(root, 'infra/readme/demo.svg');
writeFileSync(file, toSvg(stills, { title: 'scheduled-events-bridge demo', columns }));
process.stdout.write(`${file}: ${stills.length} stills of a show of ${end.toFixed(0)} s\n`);
