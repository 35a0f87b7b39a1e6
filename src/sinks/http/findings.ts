/** What the check of an HTTP endpoint verifies. Names are stable: scripts read them from `--json`. */
export const httpFindings = {
  'http.name': 'the name resolves, or the proxy opens the way',
  'http.tcp': 'a connection is established',
  'http.tls': 'the certificate is trusted and of that name',
  'http.credential':
    'the service can read the header file, others cannot, and it holds a header; or which token is used',
  'http.reach': 'the endpoint answers an OPTIONS request; with --write, it takes events',
  'http.probe': 'a test record is accepted (--write)',
} as const;
