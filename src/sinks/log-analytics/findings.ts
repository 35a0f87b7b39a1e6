/** What the check of a data collection rule proves. Names are stable: scripts read them from `--json`. */
export const logAnalyticsFindings = {
  'logAnalytics.name': 'the name resolves, or the proxy opens the way',
  'logAnalytics.tcp': 'a connection is established',
  'logAnalytics.tls': 'the certificate is trusted and of that name',
  'logAnalytics.write': 'the right to write, by an empty request',
  'logAnalytics.probe': 'a test row is accepted (--write)',
  'logAnalytics.columns': 'the stream takes the columns that are sent (--write)',
} as const;
