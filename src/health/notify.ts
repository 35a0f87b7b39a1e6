import type { Clock } from '../clock.ts';
import { createStatusLogger, type Log } from '../log.ts';
import { transportFor } from './notify-transport.ts';

export interface NotifyOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Whether all loops progress: only then is the watchdog fed. */
  readonly isProgressing: () => boolean;
  /** One sentence for `systemctl status`, or the state file of the service host. It is sent with its time, since it stays there when the process has stopped. */
  readonly status: () => string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Notifies the service manager. */
export interface Notify {
  /** The bridge is stopping. */
  stopping(): void;
  /** Sends no more notifications. Resolves when the one in progress is sent. */
  close(): Promise<void>;
}

/** Without a watchdog only a changed status sentence is sent. */
const statusEveryMs = 60_000;
/** While the loops do not progress: after a pause of the machine all of them are late, and on time a moment later. */
const recheckMs = 1_000;
/** The first poll has ended by then, unless its answer takes two minutes. */
const firstPollMs = 10_000;

/**
 * Sends systemd, or the service host of Windows, READY=1 at once, WATCHDOG=1 in a third of the watchdog's time, STOPPING=1 and STATUS=.
 * For systemd the program `systemd-notify` sends them: the unit needs NotifyAccess=all, and each one starts a small process. Before version 246 (RHEL 8, Ubuntu 20.04) systemd may lose the notification of a process that has ended: therefore the
 * third, which allows for a lost one, and READY=1 is repeated. Without NOTIFY_SOCKET nothing happens.
 * https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html, https://github.com/systemd/systemd/issues/2739
 */
export function startNotify({ env, isProgressing, status, clock, log }: NotifyOptions): Notify {
  if (!env.NOTIFY_SOCKET) return { stopping: () => {}, close: async () => {} };
  const transport = transportFor(env.NOTIFY_SOCKET);
  const closing = new AbortController();
  const statusLogger = createStatusLogger({ clock });
  const everyMs = watchdogMs(env);
  let sending: Promise<void> = Promise.resolve();
  let sent = '';
  let isStopping = false;

  /** In order: the last one sent is the one that stays. */
  function send(...news: readonly string[]): Promise<void> {
    const words = isStopping ? news : ['READY=1', ...news];
    sending = sending
      .then(() => transport.send(words, env))
      .then((failure) => {
        const { code = null, reason = '' } = failure ?? {};
        statusLogger(code, {
          begins: () =>
            log.warn({ code }, `Notifications to the service manager fail (${reason}): ${transport.remedy}.`),
          lasts: () => {},
          over: () => log.info({}, 'Notifications to the service manager work again.'),
        });
      });
    return sending;
  }

  function statusNews(): readonly string[] {
    return isStopping || sentence() === sent ? [] : statusNow();
  }

  const sentence = (): string => status().replace(/\s+/g, ' ');

  function statusNow(): readonly string[] {
    if (isStopping) return [];
    sent = sentence();
    return [`STATUS=${clock.now().toISOString().slice(11, 19)} UTC: ${sent}`];
  }

  /** Sends the result of the first poll at once: after a start an operator reads `systemctl status`. */
  async function firstPoll(): Promise<void> {
    const longestMs = Math.min(firstPollMs, everyMs ?? firstPollMs);
    for (let waitedMs = 0; waitedMs < longestMs && !closing.signal.aborted; waitedMs += recheckMs) {
      await clock.sleep(recheckMs, closing.signal);
      const news = statusNews();
      if (news.length > 0) return send(...news);
    }
  }

  async function run(): Promise<void> {
    await send(...statusNews());
    await firstPoll();
    while (!closing.signal.aborted) {
      await clock.sleep(everyMs ?? statusEveryMs, closing.signal);
      while (everyMs !== null && !isProgressing() && !closing.signal.aborted) {
        const news = statusNews();
        if (news.length > 0) await send(...news);
        await clock.sleep(recheckMs, closing.signal);
      }
      if (closing.signal.aborted) return;
      const news = everyMs === null ? statusNews() : ['WATCHDOG=1', ...statusNow()];
      if (news.length > 0) await send(...news);
    }
  }
  const running = run();

  return {
    stopping() {
      isStopping = true;
      void send('STOPPING=1', 'STATUS=Stopping: sending what is pending.');
    },
    async close() {
      closing.abort();
      await Promise.all([running, sending]);
    },
  };
}

/** A third of the watchdog's time; null without a watchdog, or if it watches another process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number | null {
  const ms = Number(WATCHDOG_USEC) / 3000;
  const isOurs = !WATCHDOG_PID || Number(WATCHDOG_PID) === process.pid;
  return ms > 0 && Number.isFinite(ms) && isOurs ? ms : null;
}
