// assumption: token-clouds
/**
 * What differs between Azure's clouds, derived from the host that the operator configured: there is no setting for it that
 * could contradict the address.
 */

interface Cloud {
  readonly name: 'public' | 'US Government' | 'China';
  readonly hosts: RegExp;
  /** The audience of a Logs Ingestion token. https://learn.microsoft.com/azure/azure-monitor/logs/logs-ingestion-api-overview */
  readonly monitorAudience: string;
}

const publicCloud: Cloud = {
  name: 'public',
  hosts: /\.(azure\.com|windows\.net)$/,
  monitorAudience: 'https://monitor.azure.com',
};

const clouds: readonly Cloud[] = [
  publicCloud,
  { name: 'US Government', hosts: /\.(azure\.us|usgovcloudapi\.net)$/, monitorAudience: 'https://monitor.azure.us' },
  { name: 'China', hosts: /\.(azure\.cn|chinacloudapi\.cn)$/, monitorAudience: 'https://monitor.azure.cn' },
];

function cloudOf(host: string): Cloud {
  const name = host.toLowerCase().replace(/\.$/, '');
  return clouds.find(({ hosts }) => hosts.test(name)) ?? publicCloud;
}

/** The cloud of an endpoint's host; a host that belongs to none of them (a simulator, a private name) counts as public. */
export const cloudName = (host: string): Cloud['name'] => cloudOf(host).name;

/** Audience of a token for Logs Ingestion at this host. */
export const monitorAudience = (host: string): string => cloudOf(host).monitorAudience;

/** Scope of a token for Logs Ingestion at this host. */
export const monitorScope = (host: string): string => `${monitorAudience(host)}/.default`;
