import { connect } from 'node:net';
import type { Clock } from '../clock.ts';
import { askPipe } from './pipe-client.ts';
import { isSnapshot, type Snapshot } from './snapshot.ts';
import { isPipe, type ShortPath, shortPath, statusPaths } from './status-path.ts';

/**
 * The answer of the service. `silent`: a process listens and does not answer, so it is stopped or hangs. `nobody`: nothing listens.
 * `denied`: this user may not query it.
 */
export type ServiceAnswer =
  | { readonly kind: 'answered'; readonly snapshot: Snapshot }
  | { readonly kind: 'silent' | 'nobody' | 'denied' };

/** A poll takes milliseconds, a commit to a slow disk a fraction of a second. */
const answerMs = 2_000;
const stepMs = 100;
/** Longer than any list of events that the metadata service gives. */
const longestAnswer = 4 * 2 ** 20;

/** Queries the service of this state directory. Writes nothing, needs no disk. Never rejects. */
export async function askService(
  directory: string,
  clock: Clock,
  paths: readonly string[] = statusPaths(directory),
): Promise<ServiceAnswer> {
  const answers: ServiceAnswer[] = [];
  for (const path of paths) {
    const answer = await askAt(path, clock);
    if (answer.kind === 'answered') return answer;
    answers.push(answer);
  }
  return answers.find(({ kind }) => kind === 'silent') ?? answers.find(({ kind }) => kind === 'denied') ?? notListening;
}

const notListening: ServiceAnswer = { kind: 'nobody' };

async function askAt(path: string, clock: Clock): Promise<ServiceAnswer> {
  if (isPipe(path)) {
    const answer = await askPipe(path, longestAnswer);
    return answer.kind === 'answered' ? parsed(answer.text) : answer;
  }
  let address: ShortPath;
  try {
    address = shortPath(path);
  } catch (error) {
    return failed(error as NodeJS.ErrnoException);
  }
  using opened = address;
  const over = new AbortController();
  try {
    return await Promise.race([read(opened.path, over.signal), silence(clock, over.signal)]);
  } finally {
    over.abort();
  }
}

/**
 * Waits in steps, and reads what arrived between them: a time in which this process itself was not scheduled, or loaded its libraries,
 * counts as one step and says nothing about the service.
 */
async function silence(clock: Clock, signal: AbortSignal): Promise<ServiceAnswer> {
  for (let waitedMs = 0; waitedMs < answerMs && !signal.aborted; waitedMs += stepMs) await clock.sleep(stepMs, signal);
  return { kind: 'silent' };
}

function read(path: string, signal: AbortSignal): Promise<ServiceAnswer> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let text = '';
    signal.addEventListener('abort', () => socket.destroy(), { once: true });
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      text += chunk;
      if (text.length > longestAnswer) socket.destroy();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(failed(error)));
    socket.once('close', () => resolve(parsed(text)));
  });
}

/** EAGAIN: the backlog of the socket is full. */
function failed({ code }: NodeJS.ErrnoException): ServiceAnswer {
  if (code === 'EAGAIN') return { kind: 'silent' };
  return code === 'EACCES' || code === 'EPERM' ? { kind: 'denied' } : notListening;
}

/** A service of another version may answer in a form that is not known here: then it counts as not running. */
function parsed(text: string): ServiceAnswer {
  try {
    const snapshot: unknown = JSON.parse(text);
    return isSnapshot(snapshot) ? { kind: 'answered', snapshot } : notListening;
  } catch {
    return notListening;
  }
}
