import type { Settings } from './observer.ts';

/** The bridge with its default configuration: the connection is opened 10 s before an event starts, and closed 10 s after a record. */
export const product: Settings = {
  connectJitterSeconds: 0,
  idleCloseSeconds: 10,
  holdSeconds: 10,
  heldUntil: 'start',
  exceptShortNotice: true,
};

/** The same in a large fleet: what can wait waits, and no connection is opened ahead of need. */
export const withJitter: Settings = { ...product, connectJitterSeconds: 60 };
export const neverClosed: Settings = { ...product, idleCloseSeconds: 86_400 };

/** When to hold the connection, and how long it idles: the rules that were compared before one was chosen. */
export const rules: Readonly<Record<string, Settings>> = {
  'until the end, idle 60 s': {
    ...product,
    holdSeconds: 1200,
    heldUntil: 'end',
    idleCloseSeconds: 60,
    exceptShortNotice: false,
  },
  '2 min before a start, idle 10 s': { ...product, holdSeconds: 120, idleCloseSeconds: 10, exceptShortNotice: false },
  '10 s before a start, idle 10 s, also for Preempt': { ...product, exceptShortNotice: false },
  '10 s before a start, idle 10 s': product,
  '10 s before a start, idle 5 s': { ...product, idleCloseSeconds: 5 },
  'never, idle 60 s': { ...product, holdSeconds: 0, idleCloseSeconds: 60 },
  'never, idle 10 s': { ...product, holdSeconds: 0 },
  'never, idle 5 s': { ...product, holdSeconds: 0, idleCloseSeconds: 5 },
  'never, idle 2 s': { ...product, holdSeconds: 0, idleCloseSeconds: 2 },
  'never, idle 10 s, jitter 60 s': withJitter,
};
