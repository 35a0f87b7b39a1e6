import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Expected time of a file that has not run here before, in milliseconds. One waits for the two minutes of the product. */
function expectedMs({ moduleId }: TestSpecification): number {
  if (moduleId.endsWith('/situations-of-destinations.test.ts')) return 140_000;
  return isEndToEnd(moduleId) ? 40_000 : 1_500;
}
const isEndToEnd = (path: string): boolean => path.includes('/end-to-end/');
/** How many files mostly wait at a time, beside two that compute. */
const waitingFiles = 3;
/** In which part of the run end-to-end tests begin: at its end, one of them would wait alone on an idle machine. */
const waitingShare = 0.8;

interface Timed {
  readonly file: TestSpecification;
  readonly isEndToEnd: boolean;
  readonly ms: number;
}

/**
 * First the longest end-to-end tests; beside them the files that need a process of their own, since Vitest ends a shared process when the next file
 * is none of its project; then all others, those of each kind spread over the rest of the run, longer ones first: end-to-end tests
 * mostly wait and the others mostly compute.
 */
export class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timed = (await super.sort(files)).map((file) => this.#timed(file)).toSorted((a, b) => b.ms - a.ms);
    const first = timed.filter(({ isEndToEnd }) => isEndToEnd).slice(0, waitingFiles);
    const alone = timed.filter(({ file }) => file.project.config.isolate);
    const rest = timed.filter((one) => !first.includes(one) && !alone.includes(one));
    const spread = [true, false]
      .flatMap((kind) => placed(rest.filter(({ isEndToEnd }) => isEndToEnd === kind)))
      .map((one) => ({ ...one, place: one.isEndToEnd ? one.place * waitingShare : one.place }))
      .toSorted((a, b) => a.place - b.place);
    return [...first, ...alone, ...spread].map(({ file }) => file);
  }

  #timed(file: TestSpecification): Timed {
    const ms = this.ctx.cache.getTestSpecificationResult(file)?.duration ?? expectedMs(file);
    return { file, isEndToEnd: isEndToEnd(file.moduleId), ms };
  }
}

/** `place`: when the file would begin, as a share of the time of its kind. */
function placed(files: readonly Timed[]): (Timed & { readonly place: number })[] {
  const total = files.reduce((sum, { ms }) => sum + ms, 0);
  let before = 0;
  return files.map((one) => {
    const place = before / total;
    before += one.ms;
    return { ...one, place };
  });
}
