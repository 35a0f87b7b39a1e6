import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { frame } from '../../src/azure-simulator/demo/frame.ts';
import { fold, type Moment } from '../../src/azure-simulator/demo/model.ts';
import { oneVm, play } from '../../src/azure-simulator/demo/shows.ts';
import { onStage } from '../../src/azure-simulator/demo/stage.ts';
import { summarize } from '../../src/azure-simulator/demo/summary.ts';
import { type Row, span } from '../../src/terminal/styled-text.ts';
import { type Still, toSvg } from './svg.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const columns = 100;
/** Of the show, per still. */
const everySeconds = 2;
const stillMs = 800;
const lastMs = 6000;

const { beginning } = oneVm;

/** Runs the demo and keeps its moments: the picture is of a real run. */
async function record() {
  const directory = mkdtempSync(join(tmpdir(), 'scheduled-events-bridge-picture-'));
  const moments: Moment[] = [];
  const run: { ended: Awaited<ReturnType<typeof play>> } = { ended: null };
  const { signal } = new AbortController();
  const entry = join(root, 'src/azure-simulator/main.ts');
  const options = { directory, entry, env: process.env, stop: signal, print: () => {} };
  try {
    await onStage(options, { vms: beginning.vms, height: () => 0 }, async (stage) => {
      run.ended = await play(oneVm, stage, options, {
        onMoment: (moment) => void moments.push(moment),
        onTick: () => {},
      });
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const { ended } = run;
  if (!ended || ended.verdict.differences.length > 0) throw new Error('the demo failed');
  return { moments, ...ended };
}

const { moments, verdict, show } = await record();
const end = Math.max(...moments.map(({ at }) => at)) + 0.4;
const times = [...Array.from({ length: Math.floor(end / everySeconds) }, (_, n) => (n + 1) * everySeconds), end];
const summary = summarize(verdict, show);
const agreement = summary.slice(summary.findIndex((row) => row.some(({ text }) => text.includes('They agree'))));
const stills = times.map((at, n): Still => {
  const isLast = n === times.length - 1;
  const soFar = moments.filter((moment) => moment.at <= at).reduce(fold, beginning);
  const prompt: Row = [span(' $ ', 'ended'), span('npm run demo', 'strong')];
  const rows = [prompt, [], ...frame(soFar, at, columns), [], ...(isLast ? agreement : [])];
  return { rows, ms: isLast ? lastMs : stillMs };
});
const file = join(root, 'infra/readme/demo.svg');
writeFileSync(file, toSvg(stills, { title: 'scheduled-events-bridge demo', columns }));
process.stdout.write(`${file}: ${stills.length} stills of a show of ${end.toFixed(0)} s\n`);
