import { formatDuration } from '../clock.ts';

/** The figures by which polling is judged. Ages are measured with the monotonic clock. */
export interface PollFigures {
  readonly intervalSeconds: number;
  /** How long an answer may take now: the one that enables Scheduled Events may take two minutes. */
  readonly answerSeconds: number;
  /** The feature may be off: no document was seen in the last 24 h. */
  readonly isFirstAnswer: boolean;
  readonly upSeconds: number;
  /** Since the last poll ended, with any result; since the start where none has. */
  readonly ageSeconds: number;
  /** Since the last valid document of this process. */
  readonly documentAgeSeconds: number | null;
  /** Why the last poll failed; null if it did not. */
  readonly failing: { readonly code: string; readonly reason: string } | null;
}

/** `isProblem`: operator action required. Otherwise it is reported only. */
export interface Remark {
  readonly isProblem: boolean;
  readonly message: string;
}

/** The metadata service answers within milliseconds: without a document for longer no event is seen. */
export const documentLimitSeconds = 10;
/** A poll is late after this many intervals. */
const lateIntervals = 3;
/** What a request may take beyond its deadline. */
const leewaySeconds = 5;

/** Null while polls succeed on time. */
export function pollRemark(poll: PollFigures): Remark | null {
  const { upSeconds, documentAgeSeconds, failing } = poll;
  const unseenSeconds = documentAgeSeconds ?? upSeconds;
  const isAwaited =
    poll.isFirstAnswer &&
    documentAgeSeconds === null &&
    failing === null &&
    upSeconds <= poll.answerSeconds + leewaySeconds;
  if (isAwaited) {
    return {
      isProblem: false,
      message: `not watching yet: the first answer of the metadata service may take ${formatDuration(poll.answerSeconds)} (${formatDuration(upSeconds)} so far)`,
    };
  }
  if (unseenSeconds > documentLimitSeconds) {
    const since = documentAgeSeconds === null ? 'since the start, ' : 'for ';
    const ago = documentAgeSeconds === null ? ' ago' : '';
    return {
      isProblem: true,
      message: `No document from the metadata service ${since}${formatDuration(unseenSeconds)}${ago}: ${reasonOf(poll)}`,
    };
  }
  if (documentAgeSeconds === null) return { isProblem: false, message: `starting: no document yet${because(poll)}` };
  if (failing !== null) return { isProblem: false, message: `the last poll failed${because(poll)}` };
  if (!isLate(poll)) return null;
  return {
    isProblem: false,
    message: `the last poll ended ${formatDuration(poll.ageSeconds)} ago, with an interval of ${poll.intervalSeconds} s: the metadata service is slow to answer`,
  };
}

const isLate = ({ ageSeconds, intervalSeconds }: PollFigures): boolean => ageSeconds > lateIntervals * intervalSeconds;

const because = ({ failing }: PollFigures): string => (failing === null ? '' : `: ${failing.reason}`);

function reasonOf(poll: PollFigures): string {
  if (poll.failing !== null) return poll.failing.reason;
  if (!isLate(poll)) return 'polls end in an internal error; see the log, and please report it.';
  return poll.ageSeconds > poll.answerSeconds + leewaySeconds
    ? `no poll has ended for ${formatDuration(poll.ageSeconds)}, although an answer may take ${formatDuration(poll.answerSeconds)}: restart the service, and please report it.`
    : `it has not answered the last poll for ${formatDuration(poll.ageSeconds)}.`;
}
