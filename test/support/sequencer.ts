import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take long, in seconds. One waits for the two minutes of the product. */
const seconds: Readonly<Record<string, number>> = {
  'end-to-end/situations-of-destinations': 140,
  'end-to-end/demo': 60,
  'end-to-end/simulate': 55,
  'lifecycle/fleet-model': 12,
  'lifecycle/fleet': 8,
  'kql/alerts/firing': 12,
  'kql/alerts/on-call': 12,
  'kql/queries/faults': 12,
  'infra/workbooks/queries': 12,
  'infra/acceptance/whole-run/complete': 150,
  'infra/acceptance/whole-run/simulator': 70,
  'infra/acceptance/whole-run/every-last-step': 60,
  'infra/acceptance/whole-run/every-needed-step': 50,
  'infra/acceptance/whole-run/data-steps': 40,
  'infra/acceptance/whole-run/interruptions': 20,
};
/** Expected time of a file that has not run here before, in milliseconds. */
function expectedMs({ moduleId }: TestSpecification): number {
  const [, name = ''] = /\/test\/(.*)\.test\.ts$/.exec(moduleId) ?? [];
  return 1000 * (seconds[name] ?? (isEndToEnd(moduleId) ? 40 : 1.5));
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
 * First the longest end-to-end tests; beside them the projects with processes of their own, each in one go, since Vitest ends a shared process
 * when the next file is none of its project; then all others, those of each kind spread over the rest of the run, longer ones first: end-to-end tests
 * mostly wait and the others mostly compute.
 */
export class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const timed = (await super.sort(files)).map((file) => this.#timed(file)).toSorted((a, b) => b.ms - a.ms);
    const first = timed.filter(({ isEndToEnd }) => isEndToEnd).slice(0, waitingFiles);
    const apart = ['queries', 'forking', 'alone'].flatMap((name) =>
      timed.filter(({ file }) => file.project.name === name),
    );
    const rest = timed.filter((one) => !first.includes(one) && !apart.includes(one));
    const spread = [true, false]
      .flatMap((kind) => placed(rest.filter(({ isEndToEnd }) => isEndToEnd === kind)))
      .map((one) => ({ ...one, place: one.isEndToEnd ? one.place * waitingShare : one.place }))
      .toSorted((a, b) => a.place - b.place);
    return [...first, ...apart, ...spread].map(({ file }) => file);
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
