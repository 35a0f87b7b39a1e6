/** What may be wrong with what the bridge says, one row a kind. `zero`: expected never to happen. */
export const kinds = {
  // Steps.
  'step-missed': { zero: true, reason: 'a valid document showed it to a poll' },
  'step-invented': { zero: true, reason: 'no document showed it' },
  'step-doubled': { zero: true, reason: 'one observation is recorded once; positions and sequences have no gap' },
  // Ends.
  'end-missing': { zero: true, reason: 'a valid document lacks the event and every window is over' },
  'end-late': { zero: true, reason: 'windows run on time that no clock step can stretch' },
  'ended-by-mistake': { zero: true, reason: 'one document that lacks an event by mistake decides nothing' },
  'ended-in-window': { zero: true, reason: 'the list may not be whole in the five minutes after a reset' },
  'ended-while-listed': { zero: true, reason: 'only a valid document may end an event' },
  'open-for-ever': { zero: true, reason: 'in the view of one VM that goes on looking, a lost state included' },
  // Verdicts.
  'canceled-of-completed': { zero: true, reason: 'Azure carried it out' },
  'completed-of-canceled-certain': {
    zero: true,
    reason: 'left-after-started and said-by-azure are claims of the documents',
  },
  'completed-of-canceled-impossible': { zero: true, reason: 'the documents rule an impact out by then' },
  'completed-of-canceled': {
    zero: false,
    reason: 'VM restarted or was moved for its own reasons when the event could begin',
  },
  'ended-of-started': { zero: true, reason: 'Started was listed, so it is known to be completed' },
  'ended-of-clear-cancel': { zero: true, reason: 'it left long before its notBefore and was watched without a gap' },
  'evidence-untrue': { zero: true, reason: 'each word of evidence is a fact about this VM and these documents' },
  'beginning-invented': { zero: true, reason: 'said to begin now, though Azure had listed it long before' },
  'reset-not-recognized': {
    zero: false,
    reason: 'the endpoint restarted at no lower incarnation, so its short list looks like any other',
  },
  // The fleet.
  'fold-open-for-ever': { zero: true, reason: 'a VM recorded the true end' },
  'fold-ended-while-listed': { zero: true, reason: 'no VM may end what Azure still lists' },
  'presumed-while-listed': { zero: true, reason: 'a lost state ends no event' },
  'fold-recovered-early': { zero: true, reason: 'the impact on another VM is still to come' },
  'fold-canceled-of-completed': { zero: true, reason: 'Azure carried it out' },
  'fold-unseen-return': {
    zero: false,
    reason: 'it left, reappeared and was carried out while no VM that reports it polled',
  },
  'fold-completed-over-canceled': { zero: true, reason: 'a VM that watched without a gap said Canceled' },
  'fold-completed-of-canceled': { zero: false, reason: 'no VM watched without a gap' },
  'fold-differs': { zero: true, reason: 'the fold by the rules of the contract gives another end' },
  // Ids.
  'ids-differ': { zero: true, reason: 'two VMs saw the same step, and the same steps before it' },
  'ids-differ-unseen': {
    zero: false,
    reason: 'a VM missed an equal step before or two at once, or recorded one more: it joined late or lost its state',
  },
  'ids-collide': { zero: true, reason: 'two steps, and the VM saw both' },
  'ids-collide-unseen': { zero: false, reason: 'the VM never saw the first of two equal steps' },
  // Figures.
  'notice-over': {
    zero: true,
    reason:
      'more than two polls over the warning until it was listed as Started, or until its pause where that is all that was seen',
  },
  'notice-over-missed-polls': { zero: false, reason: 'at most ten seconds of missed polls hid the beginning: no gap' },
  'notice-under': { zero: true, reason: 'beginning and start were both seen' },
  'notice-silent': { zero: true, reason: 'beginning and start were both seen' },
  'started-seconds-off': { zero: true, reason: 'more than the polls around it explain' },
  'started-seconds-unseen': { zero: false, reason: 'it went back to Scheduled and on again while polls were missed' },
  'absent-by-mistake': {
    zero: false,
    reason: 'a document lacked it by mistake: the one before it was first seen, or before the machine was off',
  },
  'started-seconds-stood': {
    zero: false,
    reason: 'the clocks of the guest stood still in a pause, so seconds are missing',
  },
  'pause-of-nothing': { zero: true, reason: 'no pause was measured at all' },
  'pause-misbooked': { zero: true, reason: 'it belongs to another event, or the event could not have begun' },
  'pause-stall': { zero: false, reason: 'a stall of the CPU while the event was under way looks the same' },
  'pause-twice': { zero: true, reason: 'the records of one VM sum up to more than it stood still' },
  'pause-silent': { zero: true, reason: 'it was measured while only this event could cause it' },
  'outage-misbooked': { zero: true, reason: 'it belongs to another event, or the event could not have begun' },
  'outage-unexplained': {
    zero: false,
    reason:
      'the guest restarted for its own reasons, or for an event this VM was not shown, while this one could begin',
  },
  'outage-off': { zero: true, reason: 'last poll before to first poll after is known' },
  'outage-silent': {
    zero: true,
    reason: 'both ends are known, and the documents showed that this event could cause it and no other',
  },
  // The program.
  'state-grows': { zero: true, reason: 'a bounded state, whatever Azure does' },
  threw: { zero: true, reason: 'every document is a value' },
} as const satisfies Readonly<Record<string, { readonly zero: boolean; readonly reason: string }>>;

export type Kind = keyof typeof kinds;

/** One thing that is wrong, in one sentence. */
export interface Finding {
  readonly kind: Kind;
  readonly event: string;
  readonly vm: string | null;
  readonly atMs: number;
  readonly text: string;
}

export const zeroKinds: readonly Kind[] = (Object.keys(kinds) as Kind[]).filter((kind) => kinds[kind].zero);
