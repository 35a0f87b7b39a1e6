import { isDeepStrictEqual } from 'node:util';
import { type GroupDocument, sameId } from './document.ts';
import type { Vm } from './vm.ts';
import type { WireDocument } from './wire.ts';

/** What the endpoint of one VM shows of its group's document: all of it, or only what names this VM; some of it perhaps never. */
export interface View {
  readonly document: WireDocument;
  /** Whether the event is listed now or ever was, for this VM. */
  knows(eventId: string): boolean;
  /** Ends the watching of the group. */
  close(): void;
}

export function openView(group: Pick<GroupDocument, 'current' | 'issued' | 'watch'>, vm: Vm): View {
  let before = group.current;
  let shown = firstView(before, vm);
  const close = group.watch(() => {
    const now = group.current;
    if (!vm.misses.includes(now.DocumentIncarnation)) shown = nextView(shown, before, now, vm);
    before = now;
  });
  return {
    get document() {
      return structuredClone(shown);
    },
    knows: (eventId) =>
      group.issued.some(
        (step) => sameId(step.eventId, eventId) && (vm.sees === 'group' || includes(step.resources, vm.name)),
      ),
    close,
  };
}

function firstView(group: WireDocument, vm: Vm): WireDocument {
  const document = only(group, vm);
  return { ...document, DocumentIncarnation: document.DocumentIncarnation + vm.incarnationOffset };
}

/** A VM that sees only its own events has a number of its own: it goes up when one of those changes. */
function nextView(shown: WireDocument, before: WireDocument, now: WireDocument, vm: Vm): WireDocument {
  const next = firstView(now, vm);
  const isReset = now.DocumentIncarnation < before.DocumentIncarnation;
  if (vm.sees === 'group' || isReset) return next;
  if (isDeepStrictEqual(next.Events, shown.Events)) return shown;
  const steps = now.DocumentIncarnation - before.DocumentIncarnation;
  return { ...next, DocumentIncarnation: shown.DocumentIncarnation + steps };
}

function only(document: WireDocument, vm: Vm): WireDocument {
  if (vm.sees === 'group') return document;
  return { ...document, Events: document.Events.filter(({ Resources }) => includes(Resources, vm.name)) };
}

function includes(resources: unknown, name: string): boolean {
  return Array.isArray(resources) && resources.some((one) => String(one).toLowerCase() === name.toLowerCase());
}
