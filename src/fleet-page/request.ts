import type { IncomingMessage } from 'node:http';

export const loopback = '127.0.0.1';

/**
 * Why a request is refused; null: it is ours.
 *
 * A page of another site, in a browser on this machine, can have its own name resolve to 127.0.0.1 and read what is served there (DNS
 * rebinding), but it cannot choose the Host header; and a request that it sends to our own name carries its Origin.
 */
export function refusalOf(
  { headers, method }: IncomingMessage,
  port: number,
): { status: number; reason: string } | null {
  const names = [loopback, 'localhost'].flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  if (!names.includes((headers.host ?? '').toLowerCase()))
    return { status: 421, reason: `The Host header must name this address: ${names.join(' or ')}.` };
  const { origin } = headers;
  if (origin !== undefined && !names.some((name) => origin.toLowerCase() === `http://${name}`))
    return { status: 403, reason: 'Pages of another origin may not read this one.' };
  // Sent by browsers: `none` is a typed address or a bookmark. https://www.w3.org/TR/fetch-metadata/
  const site = headers['sec-fetch-site'];
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isLink)
    return { status: 403, reason: 'Pages of another site may not read this one.' };
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, reason: 'Only GET and HEAD are allowed.' };
  return null;
}

/** No script, style, image or connection but our own; nothing inline; in no frame. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;
