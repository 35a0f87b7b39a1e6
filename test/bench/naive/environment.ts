import type { Configuration } from '../azure-program.ts';

/** Environment of the naive program on this VM. `configuration`: that of a bridge. */
export const naiveEnvironment = (vm: string, { imds, sinks, tls }: Configuration): NodeJS.ProcessEnv => ({
  NAIVE: JSON.stringify({ vm, imds, sinks }),
  NODE_EXTRA_CA_CERTS: tls.caFile,
  AZURE_POD_IDENTITY_AUTHORITY_HOST: imds.endpoint,
});
