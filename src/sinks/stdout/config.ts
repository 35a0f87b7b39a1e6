import { orNull, presence, withSamples } from '../../config/schema.ts';

/** `sinks.stdout` of the configuration. */
export const stdoutSection = withSamples(orNull(presence, 'One JSON record per line on stdout; logs go to stderr'), {
  none: {},
});
