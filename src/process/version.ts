import manifest from '../../package.json' with { type: 'json' };

/** Of this build: what `version` prints and every record carries. The bundle holds it, so that it needs no file beside it. */
export const version: string = manifest.version;
