import { expect, test } from 'vitest';
import { streams } from '../../../src/azure-simulator/cli/streams.ts';

test('the streams are those of the tables, columns and all', () => {
  expect(Object.keys(streams)).toEqual(['Custom-VmLifecycle_CL', 'Custom-VmLifecycleBridge_CL']);
  expect(streams['Custom-VmLifecycle_CL']).toContainEqual(
    expect.objectContaining({ name: 'TimeGenerated', type: 'dateTime' }),
  );
});
