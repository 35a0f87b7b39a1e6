import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Expected time of a file that has not run here before, in milliseconds. */
const expectedMs = (project: string): number => (project === 'end-to-end' ? 40_000 : 1_500);

/**
 * Spreads the files of each project over the whole run, longer ones first: end-to-end tests mostly wait and the others mostly compute, so
 * they should run beside each other. Vitest itself runs one project after the other.
 */
export class Interleaved extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...projects.values()]
      .flatMap((ofProject) => this.#placed(ofProject))
      .sort((a, b) => a.place - b.place)
      .map(({ file }) => file);
  }

  /** `place`: when the file would begin, as a share of the time of its project. */
  #placed(files: readonly TestSpecification[]): { file: TestSpecification; place: number }[] {
    const durations = files.map((file) => this.ctx.cache.getTestSpecificationResult(file)?.duration);
    const times = files.map(({ project }, index) => durations[index] ?? expectedMs(project.name));
    const total = times.reduce((sum, time) => sum + time, 0);
    let before = 0;
    return files.map((file, index) => {
      const place = before / total;
      before += times[index] ?? 0;
      return { file, place };
    });
  }
}
