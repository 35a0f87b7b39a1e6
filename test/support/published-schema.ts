import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formatsModule from 'ajv-formats';
import { root } from './source-tree.ts';

/** A JSON Schema of `infra/schema`, as it is published. */
export const publishedSchema = (name: string) => JSON.parse(readFileSync(join(root, 'infra/schema', name), 'utf8'));

/** What a validator of another maker finds wrong with a value; nothing when it is valid. */
export function validatorOf(name: string): (value: unknown) => readonly string[] {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictRequired: false });
  formatsModule.default(ajv);
  const validate = ajv.compile(publishedSchema(name));
  return (value) =>
    validate(value) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

const problemsOfRecord = validatorOf('lifecycle-record.v1.json');

/** Hands records on that are valid by the published schema: where tests receive records, so that every one is checked. */
export function valid<R>(records: readonly R[]): readonly R[] {
  for (const record of records) {
    const problems = problemsOfRecord(record);
    if (problems.length > 0) throw new Error(`invalid record: ${problems.join('; ')}\n${JSON.stringify(record)}`);
  }
  return records;
}
