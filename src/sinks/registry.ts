import type { Config } from '../config.ts';
import type { HeartbeatTarget, SinkDescriptor } from './descriptor.ts';
import * as descriptors from './index.ts';

/** Every sink, by key. */
export const sinks: readonly SinkDescriptor[] = Object.values(descriptors);
export type SinkKey = keyof typeof descriptors;

/** A sink with its section of the configuration. */
export interface ConfiguredSink {
  readonly sink: SinkDescriptor;
  readonly section: unknown;
}

type Sections = Config['sinks'];

/** `sinks` of the configuration, by key. */
export const sinkSections = Object.fromEntries(sinks.map(({ key, section }) => [key, section])) as unknown as {
  readonly [Key in SinkKey]: (typeof descriptors)[Key]['section'];
};

/** Those that this configuration asks for. */
export const configuredSinks = (sections: Sections): readonly ConfiguredSink[] =>
  sinks.flatMap((sink) => {
    const section = sections[sink.key as SinkKey];
    return section === null || section === undefined ? [] : [{ sink, section }];
  });

/** The configuration of the process that runs one sink, or none: it gets the section of no other. */
export const onlySink = (sections: Sections, only: SinkKey | null): Sections =>
  Object.fromEntries(sinks.map(({ key }) => [key, key === only ? sections[only] : null])) as unknown as Sections;

/** Scopes of the tokens that the configured sinks will ask for, once each. */
export const tokenScopes = (sections: Sections): readonly string[] => [
  ...new Set(configuredSinks(sections).flatMap(({ sink, section }) => sink.tokenScopes(section))),
];

/** By name of a sink: how long a record that is not urgent may wait on purpose, in seconds. Only of those that hold records. */
export const holdSecondsOf = (sections: Sections): Readonly<Record<string, number>> =>
  Object.fromEntries(
    configuredSinks(sections).flatMap(({ sink, section }) => {
      const seconds = sink.holdSeconds?.(section) ?? 0;
      return seconds > 0 ? [[sink.name, seconds]] : [];
    }),
  );

/** Where heartbeats go, each with the name of the sink that has the same destination. */
export const heartbeatTargets = ({
  heartbeat,
  sinks: sections,
}: Pick<Config, 'heartbeat' | 'sinks'>): readonly (HeartbeatTarget & { readonly sink: string })[] =>
  configuredSinks(sections).flatMap(({ sink, section }) => {
    const target = sink.heartbeat?.(section, heartbeat);
    return target ? [{ ...target, sink: sink.name }] : [];
  });

/** A sink by its name in sentences; a sink of another version keeps the name that it has. */
export const labelOf = (name: string): string => sinks.find((sink) => sink.name === name)?.label ?? name;
