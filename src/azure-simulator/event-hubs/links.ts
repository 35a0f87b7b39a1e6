import type { Connection, Receiver, Sender } from 'rhea';
import type { Grants } from './grants.ts';
import { expired, idleConnection, idleLink, type Refusal } from './refusal.ts';

/** How long what is not used stays open, in milliseconds. */
export interface IdleLimits {
  /** A link on which nothing moved. Default 30 minutes. */
  readonly linkMs: number;
  /** A connection without a link to a hub on which nothing else moved either. Default 5 minutes. */
  readonly connectionMs: number;
}

/** https://learn.microsoft.com/azure/event-hubs/event-hubs-amqp-troubleshoot */
export const idleLimits: IdleLimits = { linkMs: 30 * 60_000, connectionMs: 5 * 60_000 };

export type Link = Receiver | Sender;

/** The links of one connection on which events move, and what ends them unasked: an expired token, or idleness. */
export interface Links {
  /** @param end has to detach the link for this reason. */
  opened(link: Link, entity: string, end: (why: Refusal) => void): void;
  /** Something moved, on this link or, without one, elsewhere on the connection. */
  used(link?: Link): void;
  forget(link: Link): void;
  /** Ends what has had its time. */
  sweep(): void;
}

interface OpenLink {
  /** In lower case. */
  readonly path: string;
  readonly end: (why: Refusal) => void;
  usedAt: number;
}

export function createLinks(connection: Connection, grants: Grants, limits: IdleLimits, now: () => number): Links {
  const links = new Map<Link, OpenLink>();
  let usedAt = now();

  const verdict = (link: Link, { path, usedAt }: OpenLink): Refusal | null => {
    const until = grants.until(path) ?? 0;
    if (until <= now()) return expired(until);
    return now() - usedAt >= limits.linkMs && !waits(link) ? idleLink(limits.linkMs) : null;
  };

  return {
    opened(link, entity, end) {
      usedAt = now();
      links.set(link, { path: entity.toLowerCase(), end, usedAt });
    },
    used(link) {
      usedAt = now();
      const open = link && links.get(link);
      if (open) open.usedAt = usedAt;
    },
    forget(link) {
      if (links.delete(link)) usedAt = now();
    },
    sweep() {
      for (const [link, open] of links) {
        const why = verdict(link, open);
        if (why === null) continue;
        links.delete(link);
        usedAt = now();
        open.end(why);
      }
      if (links.size === 0 && now() - usedAt >= limits.connectionMs)
        connection.close(idleConnection(limits.connectionMs));
    },
  };
}

/** A reader that has given credit is receiving, though nothing comes. */
function waits(link: Link): boolean {
  return link.is_sender() && link.has_credit();
}
