import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../package.json' with { type: 'json' };
import { machine } from './figures.ts';

interface Report {
  readonly bench: string;
  readonly head: readonly string[];
  readonly lines: readonly (readonly string[])[];
  /** Every single figure, for the file. */
  readonly figures: unknown;
}

/** Prints the table of a bench with the machine, and writes every figure as JSON. */
export function writeReport({ bench, head, lines, figures }: Report): void {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const table = [head, head.map(() => '---'), ...lines].map(line).join('\n');
  const file = join(mkdtempSync(join(tmpdir(), `${bench}-`)), `${bench}.json`);
  const { '@azure/event-hubs': hubs, '@azure/monitor-ingestion': ingestion, undici } = manifest.dependencies;
  const versions = `event-hubs ${hubs}, monitor-ingestion ${ingestion}, undici ${undici}`;
  writeFileSync(file, `${JSON.stringify({ at: new Date(), machine: machine(), versions, figures }, null, 2)}\n`);
  process.stdout.write(`Median (lowest to highest); ${machine()}; ${versions}\n\n${table}\n\nEvery figure: ${file}\n`);
}
