import { createLog, type Log, type LogLevel } from '../log.ts';
import { openDestination } from './log-destination.ts';
import { mayColour } from './text-format.ts';

/** What stderr may be behind before lines are dropped: some 4,000 lines. */
const maxBacklogBytes = 1024 * 1024;
/** How long the end of the process waits for a reader of stderr. */
const exitMs = 500;

/** The log of this process, on stderr: JSON lines, or formatted ones on a terminal. Opened once per process. */
export async function openLog(level: LogLevel): Promise<Log> {
  const onDropped = (lines: number): void =>
    log.warn({ lines }, 'log lines were dropped because stderr was not read fast enough');
  const destination = openDestination({ fd: 2, maxBytes: maxBacklogBytes, onDropped });
  process.on('exit', () => destination.flushSync(exitMs));
  const log = createLog({ level, destination, ...(process.stderr.isTTY && { pretty: await readable() }) });
  return log;
}

async function readable(): Promise<(line: string) => string> {
  const { prettyFactory } = await import('pino-pretty');
  const pretty = prettyFactory({
    colorize: mayColour(process.stderr, process.env),
    translateTime: 'SYS:HH:MM:ss.l',
    ignore: 'pid,hostname',
    singleLine: true,
  });
  return (line) => pretty(line) ?? line;
}
