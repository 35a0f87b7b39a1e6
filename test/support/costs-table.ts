import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The file to which each test file adds a line. */
    readonly costs: string;
  }
}

interface Cost {
  readonly file: string;
  readonly own: number;
  readonly children: number;
}
const total = ({ own, children }: Cost): number => own + children;
const shown = 60;

const line = (cost: Cost): string =>
  `${[total(cost), cost.own, cost.children].map((seconds) => seconds.toFixed(1).padStart(9)).join('')}  ${cost.file}`;

/** Prints the CPU seconds of the most expensive test files at the end. Other load on the machine changes them less than the time of a clock. */
export default function printCosts(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'test-costs-'));
  const file = join(folder, 'costs.jsonl');
  project.provide('costs', file);
  return () => {
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    rmSync(folder, { recursive: true });
    const costs = lines.map((text): Cost => JSON.parse(text)).toSorted((a, b) => total(b) - total(a));
    const all: Cost = {
      file: `${costs.length} files`,
      own: costs.reduce((sum, { own }) => sum + own, 0),
      children: costs.reduce((sum, { children }) => sum + children, 0),
    };
    console.log(['    CPU s   worker children', ...[all, ...costs.slice(0, shown)].map(line)].join('\n'));
  };
}
