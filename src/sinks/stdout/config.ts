import { orNull, presence } from '../../config/schema.ts';

/** `sinks.stdout` of the configuration. */
export const stdoutSection = orNull(presence, 'One JSON record per line on stdout; logs go to stderr');
