import { execFile } from 'node:child_process';
import type { Clock } from '../clock.ts';
import { createStatusLogger, type Log } from '../log.ts';

export interface NotifyOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Whether all loops progress: only then is the watchdog fed. */
  readonly isProgressing: () => boolean;
  /** One sentence for `systemctl status`. It is told with its time: nobody takes it back when the process stops. */
  readonly status: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

/** What the service manager is told. */
export interface Notify {
  /** The bridge comes to its end. */
  stopping(): void;
  /** Nothing is told any more. Resolves when what was being told is. */
  close(): Promise<void>;
}

/** Without a watchdog only the sentence is told, when it has become another. */
const statusEveryMs = 60_000;
/** While the loops do not progress: after a pause of the whole machine they are all late, and on time a moment later. */
const lookAgainMs = 1_000;
/** The first turn is over by then, but for a first answer of two minutes. */
const firstTurnMs = 10_000;
const spawnMs = 5_000;

/**
 * Tells systemd READY=1 at once, WATCHDOG=1 in a third of the time that it gives, STOPPING=1 and STATUS=. Node has no datagram sockets
 * of the Unix kind, so the program `systemd-notify` tells it: the unit needs NotifyAccess=all, and each time costs the start of a small
 * process. Before version 246 (RHEL 8, Ubuntu 20.04) systemd may lose the word of a process that has ended: therefore the third, which
 * leaves room for a lost one, and READY=1 is repeated. Without NOTIFY_SOCKET nothing happens.
 * https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html, https://github.com/systemd/systemd/issues/2739
 */
export function startNotify({ env, isProgressing, status, clock, log }: NotifyOptions): Notify {
  if (!env.NOTIFY_SOCKET) return { stopping: () => {}, close: async () => {} };
  const closing = new AbortController();
  const teller = createStatusLogger({ clock });
  const everyMs = watchdogMs(env);
  let telling: Promise<void> = Promise.resolve();
  let told = '';
  let isStopping = false;

  /** One after the other: the last word is the one that was said last. */
  function tell(...news: readonly string[]): Promise<void> {
    const words = isStopping ? news : ['READY=1', ...news];
    telling = telling
      .then(() => notify(words, env))
      .then((trouble) => {
        const { code = null, reason = '' } = trouble ?? {};
        teller(code, {
          begins: () =>
            log.warn(
              { code },
              `The service manager cannot be told how the bridge stands (${reason}): systemd-notify has to be installed, and the unit needs NotifyAccess=all.`,
            ),
          lasts: () => {},
          over: () => log.info({}, 'The service manager can be told again how the bridge stands.'),
        });
      });
    return telling;
  }

  function statusNews(): readonly string[] {
    return isStopping || sentence() === told ? [] : statusNow();
  }

  const sentence = (): string => status().replace(/\s+/g, ' ');

  function statusNow(): readonly string[] {
    if (isStopping) return [];
    told = sentence();
    return [`STATUS=${clock.now().toISOString().slice(11, 19)} UTC: ${told}`];
  }

  /** What the first turn brings is told when it is there: `systemctl status` is looked at now. */
  async function firstTurn(): Promise<void> {
    const longestMs = Math.min(firstTurnMs, everyMs ?? firstTurnMs);
    for (let waitedMs = 0; waitedMs < longestMs && !closing.signal.aborted; waitedMs += lookAgainMs) {
      await clock.sleep(lookAgainMs, closing.signal);
      const news = statusNews();
      if (news.length > 0) return tell(...news);
    }
  }

  async function run(): Promise<void> {
    await tell(...statusNews());
    await firstTurn();
    while (!closing.signal.aborted) {
      await clock.sleep(everyMs ?? statusEveryMs, closing.signal);
      while (everyMs !== null && !isProgressing() && !closing.signal.aborted) {
        const news = statusNews();
        if (news.length > 0) await tell(...news);
        await clock.sleep(lookAgainMs, closing.signal);
      }
      if (closing.signal.aborted) return;
      const news = everyMs === null ? statusNews() : ['WATCHDOG=1', ...statusNow()];
      if (news.length > 0) await tell(...news);
    }
  }
  const running = run();

  return {
    stopping() {
      isStopping = true;
      void tell('STOPPING=1', 'STATUS=Stopping: what is pending is being sent.');
    },
    async close() {
      closing.abort();
      await Promise.all([running, telling]);
    },
  };
}

/** A third of what systemd gives; null where no watchdog watches, or where it watches another process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number | null {
  const ms = Number(WATCHDOG_USEC) / 3000;
  const isOurs = !WATCHDOG_PID || Number(WATCHDOG_PID) === process.pid;
  return ms > 0 && Number.isFinite(ms) && isOurs ? ms : null;
}

function notify(news: readonly string[], env: NodeJS.ProcessEnv): Promise<{ code: string; reason: string } | null> {
  return new Promise((resolve) => {
    execFile('systemd-notify', news, { env, timeout: spawnMs }, (error) => {
      if (error === null) return resolve(null);
      const code = typeof error.code === 'string' ? error.code : 'failed';
      resolve({
        code,
        reason: code === 'ENOENT' ? 'there is no program systemd-notify' : (error.message.split('\n', 1)[0] ?? ''),
      });
    });
  });
}
