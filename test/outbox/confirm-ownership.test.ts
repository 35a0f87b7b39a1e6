import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Observer } from '../../src/lifecycle/scheduled-event.ts';
import { silentLog } from '../../src/log.ts';
import { confirmOwnership } from '../../src/outbox/confirm-ownership.ts';
import { openOutbox } from '../../src/outbox/durable-outbox.ts';
import { temporaryDirectory } from '../support/bridge-process.ts';
import { event, nothing, observe, observerNamed } from '../support/observations.ts';

const [web0, web1] = [observerNamed('web_0'), observerNamed('web_1')];

describe('whose outbox it is', () => {
  interface Case {
    readonly name: string;
    readonly stored: readonly [observer: Observer, bootId: string | null] | null;
    readonly bootId: string | null;
    /** What the metadata service returns; null: it does not answer. */
    readonly reported: Observer | null;
    /** Whether sending may begin, and whether what was stored is still there. */
    readonly confirmed: boolean;
    readonly kept: boolean;
  }
  const cases: readonly Case[] = [
    {
      name: 'the same boot: at once, without asking',
      stored: [web0, 'b1'],
      bootId: 'b1',
      reported: null,
      confirmed: true,
      kept: true,
    },
    {
      name: 'another boot, no answer: nothing is sent',
      stored: [web0, 'b1'],
      bootId: 'b2',
      reported: null,
      confirmed: false,
      kept: true,
    },
    {
      name: 'another boot, the same VM',
      stored: [web0, 'b1'],
      bootId: 'b2',
      reported: web0,
      confirmed: true,
      kept: true,
    },
    {
      name: 'another boot, another VM: a copied disk',
      stored: [web0, 'b1'],
      bootId: 'b2',
      reported: web1,
      confirmed: true,
      kept: false,
    },
    {
      name: 'an unknown boot is no evidence',
      stored: [web0, null],
      bootId: null,
      reported: null,
      confirmed: false,
      kept: true,
    },
    { name: 'the first start', stored: null, bootId: 'b1', reported: web0, confirmed: true, kept: true },
    {
      name: 'the first start, no answer yet',
      stored: null,
      bootId: 'b1',
      reported: null,
      confirmed: false,
      kept: true,
    },
  ];

  test.each(cases)('$name', async ({ stored, bootId, reported, confirmed, kept }) => {
    using directory = temporaryDirectory('identity');
    const outbox = openOutbox({
      directory: directory.path,
      sinks: ['hub'],
      maxMegabytes: 16,
      clock: systemClock,
      log: silentLog,
      version: '1.2.3',
    });
    if (stored) outbox.rememberObserver(...stored);
    const { state, records } = observe([nothing, { events: [event()] }], { state: outbox.state });
    outbox.append(state, records);
    const stop = new AbortController();
    const { history } = outbox;
    const confirming = confirmOwnership(
      {
        outbox,
        observer: {
          known: () => reported ?? stored?.[0] ?? null,
          fresh: () => reported !== null,
          onRead: () => () => {},
        },
        host: { bootId: () => bootId },
        isVmIdSet: false,
      },
      stop.signal,
    );
    stop.abort();
    expect(await confirming).toBe(confirmed);
    expect(outbox.pending('hub', { limit: 10 })).toHaveLength(kept ? 1 : 0);
    expect(outbox.state.events.size).toBe(kept ? 1 : 0);
    expect(outbox.history === history).toBe(kept);
    if (confirmed) expect(outbox.storedObserver?.observer.vmId).toBe((reported ?? stored?.[0])?.vmId);
    outbox.close();
  });
});
