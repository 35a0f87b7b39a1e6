/** What a link's address means. */
export type Address =
  | { readonly kind: 'cbs' }
  | { readonly kind: 'management' }
  | { readonly kind: 'hub'; readonly hub: string; readonly partition: string | null }
  | { readonly kind: 'partition'; readonly hub: string; readonly consumerGroup: string; readonly partition: string }
  | { readonly kind: 'unknown' };

export function parseAddress(text: unknown): Address {
  if (typeof text !== 'string') return { kind: 'unknown' };
  if (text === '$cbs') return { kind: 'cbs' };
  if (text === '$management') return { kind: 'management' };
  const path = text.replace(/^amqps?:\/\/[^/]+/, '').replace(/^\//, '');
  const reader = /^([^/]+)\/ConsumerGroups\/([^/]+)\/Partitions\/([^/]+)$/i.exec(path);
  if (reader !== null) {
    const [, hub = '', consumerGroup = '', partition = ''] = reader;
    return { kind: 'partition', hub, consumerGroup, partition };
  }
  const [, hub, partition = null] = /^([^/]+)(?:\/Partitions\/([^/]+))?$/i.exec(path) ?? [];
  return hub === undefined ? { kind: 'unknown' } : { kind: 'hub', hub, partition };
}

/** The entity path of an audience `sb://<namespace>/<path>`, in lower case. */
export function audiencePath(audience: string): string {
  return audience.replace(/^[a-z]+:\/\/[^/]+\/?/i, '').toLowerCase();
}
