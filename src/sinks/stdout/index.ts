import { ok } from '../../check/finding.ts';
import type { SinkDescriptor } from '../descriptor.ts';
import { stdoutSection } from './config.ts';
import { createStdoutSink, stdoutShape } from './sink.ts';

export const stdout: SinkDescriptor<'stdout'> = {
  key: 'stdout',
  name: stdoutShape.name,
  section: stdoutSection,
  label: 'Standard output',
  shape: () => stdoutShape,
  isIsolated: false,
  destination: () => 'standard output',
  find: ({ recordId }) => `the line with "recordId":"${recordId}"`,
  refusals: ['closed'],
  tokenScopes: () => [],
  open: async () => createStdoutSink(),
  check: {
    needsNetwork: false,
    findings: { 'stdout.open': 'records go to standard output too' },
    exit: null,
    run: async () => [
      ok(
        'stdout.open',
        'Records share the standard output of the service with whatever else it prints; its reader must keep reading.',
      ),
    ],
  },
};
