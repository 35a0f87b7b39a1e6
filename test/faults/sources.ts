import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FaultContext } from './fault-test.ts';

/** Modules of the tested bridge, by their file below `src`. What a test of one process tests comes from here, so that a control can change it. */
interface Modules {
  'azure/credential.ts': typeof import('../../src/azure/credential.ts');
  'bridge.ts': typeof import('../../src/bridge.ts');
  'config/read-config.ts': typeof import('../../src/config/read-config.ts');
  'outbox/durable-outbox.ts': typeof import('../../src/outbox/durable-outbox.ts');
  'process/process-wide.ts': typeof import('../../src/process/process-wide.ts');
  'relay/relay.ts': typeof import('../../src/relay/relay.ts');
  'sender/senders.ts': typeof import('../../src/sender/senders.ts');
  'sinks/event-hubs/sink.ts': typeof import('../../src/sinks/event-hubs/sink.ts');
  'sinks/registry.ts': typeof import('../../src/sinks/registry.ts');
  'sinks/log-analytics/sink.ts': typeof import('../../src/sinks/log-analytics/sink.ts');
}

export const fromSources = async <File extends keyof Modules>(
  { sources }: Pick<FaultContext, 'sources'>,
  file: File,
): Promise<Modules[File]> => (await import(pathToFileURL(join(sources, file)).href)) as Modules[File];
