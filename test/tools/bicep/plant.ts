import { beforeAll, describe, expect, test } from 'vitest';
import { azureShapes, describedIn } from './azure-shapes.ts';
import { check } from './check.ts';
import { createProject } from './project.ts';
import { planted, samplePaths } from './sample.ts';
import { createSecondReader, type SecondReader } from './second-reader.ts';

/** One thing changed in the sample, and the findings that it leads to: all of them, in the order of the files. */
export interface Fault {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly findings: readonly string[];
  /** The findings without Azure's own descriptions, where they differ. */
  readonly without?: readonly string[];
}

/** Each fault a test, by Azure's own descriptions and by the known resources alone. */
export function plant(faults: readonly Fault[]): void {
  const azure = azureShapes();
  let reader: SecondReader;
  beforeAll(async () => {
    reader = await createSecondReader();
  });
  const findingsOf = (fault: Fault, by: typeof azure): string[] =>
    check(createProject(planted(fault), by), reader, samplePaths).map((line) => line.replace(/^sample\//, ''));

  describe("by Azure's own descriptions", () => {
    test.for(faults)('$name', (fault, { skip }) => {
      skip(azure === null, `Azure's own descriptions are not at ${describedIn}`);
      expect(findingsOf(fault, azure)).toEqual(fault.findings);
    });
  });

  describe('by the known resources alone', () => {
    test.for(faults)('$name', (fault) => {
      expect(findingsOf(fault, null)).toEqual(fault.without ?? fault.findings);
    });
  });
}
