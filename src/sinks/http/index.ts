import type { SinkDescriptor } from '../descriptor.ts';
import { destinationOf, type HttpConfig, httpSection, httpShape } from './config.ts';
import { httpFindings } from './findings.ts';

export const http: SinkDescriptor<'http', HttpConfig> = {
  key: 'http',
  name: 'http',
  label: 'HTTP endpoint',
  section: httpSection,
  shape: httpShape,
  isIsolated: true,
  destination: (config) => destinationOf(config).name,
  find: ({ recordId }) => `the CloudEvent with the id ${recordId}`,
  refusals: ['header-unreadable', 'header-exposed', 'header-malformed'],
  tokenScopes: ({ tokenScope }) => (tokenScope === null ? [] : [tokenScope]),
  async open(config, { credential, clock }) {
    const { createHttpSink } = await import('./sink.ts');
    return createHttpSink({ config, credential, clock });
  },
  check: {
    needsNetwork: false,
    findings: httpFindings,
    exit: { code: 16, meaning: 'the HTTP endpoint cannot be reached, or refuses requests' },
    run: async (config, context) => (await import('./check.ts')).checkHttp(config, context),
  },
};
