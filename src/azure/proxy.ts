/**
 * The proxy for connections to a host, from the variables that the Azure SDKs and undici read; null where they are direct.
 * A proxy that is no URL counts as none: the SDKs report it.
 */
export function proxyBefore(host: string, env: NodeJS.ProcessEnv = process.env): URL | null {
  const { hostname } = URL.parse(`https://${host}`) ?? { hostname: host };
  const direct = (env.NO_PROXY || env.no_proxy || '').split(/[,\s]+/).filter((one) => one !== '');
  if (direct.some((pattern) => covers(pattern.toLowerCase(), hostname.toLowerCase()))) return null;
  const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'HTTP_PROXY', 'http_proxy'];
  const set = names.map((name) => env[name]).find((value) => value !== undefined && value !== '');
  return set === undefined ? null : URL.parse(set);
}

/** A name matches itself; `.name` and `*.name` match what is below it. */
function covers(pattern: string, hostname: string): boolean {
  if (pattern === '*') return true;
  const suffix = pattern.replace(/^\*?\./, '.');
  return hostname === pattern || (suffix.startsWith('.') && `.${hostname}`.endsWith(suffix));
}
