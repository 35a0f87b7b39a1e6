/** What the check of an event hub proves. Names are stable: scripts read them from `--json`. */
export const eventHubsFindings = {
  'eventHubs.name': 'the name resolves, or the proxy opens the way',
  'eventHubs.tcp': 'a connection is established',
  'eventHubs.tls': 'the certificate is trusted and of that name',
  'eventHubs.send': 'the right to send, by opening a sending link',
  'eventHubs.probe': 'a test record is accepted (--write)',
} as const;
