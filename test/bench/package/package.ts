import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { builtAt } from '../../../infra/package/built-at.ts';
import { root } from '../../../infra/package/contents.ts';
import { makePackages, sourcesHere } from '../../../infra/package/make-packages.ts';
import { budget, type Sizes } from '../../../infra/package/sizes.ts';
import { writeReport } from '../report.ts';

/** Bytes that a VM downloads: every package that `npm run package` builds here for Linux on x64, beside the naive program in the same archive. */
export async function packageSizes(): Promise<void> {
  const out = mkdtempSync(join(tmpdir(), 'package-sizes-'));
  const say = (sentence: string): void => void process.stderr.write(`${sentence}\n`);
  const at = builtAt(root, process.env);
  const sizes = await makePackages({ platforms: ['linux-x64'], out, at, key: null, say }, await sourcesHere());
  rmSync(out, { recursive: true });
  const naive = await naiveBytes();
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(2);
  const runtime = Math.min(...sizes.map((one) => one.package - one.app));
  const line = (one: Sizes): readonly string[] => [
    one.name,
    megabytes(one.app),
    (one.app / naive).toFixed(2),
    megabytes(one.package),
    (one.package / runtime).toFixed(3),
  ];
  writeReport({
    bench: 'package',
    head: ['', 'app, MB compressed', '× naive', 'package, MB compressed', '× Node alone'],
    lines: [
      ...sizes.map(line),
      line({ name: 'naive program, bundled and minified, in the same archive', app: naive, package: naive + runtime }),
      ['allowed by `npm run package`', megabytes(budget.app), '', megabytes(budget.package), ''],
    ],
    figures: { sizes, naive, budget },
  });
}

async function naiveBytes(): Promise<number> {
  const entryPoints = [join(root, 'test/bench/naive/naive.ts')];
  const { outputFiles } = await build({ entryPoints, bundle: true, minify: true, platform: 'node', write: false });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}
