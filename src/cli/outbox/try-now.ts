import { tryNowRequest } from '../../requests/try-now.ts';
import { Failure } from '../exit-codes.ts';
import { changeByService } from './change.ts';

/**
 * Has the service try now. @returns a sentence for the operator.
 * @throws Failure where no service runs: the next start tries by itself.
 */
export async function tryNow(directory: string, sink: string | undefined, stop: AbortSignal): Promise<string> {
  const answer = await changeByService(directory, { verb: tryNowRequest, argument: { sink } }, stop);
  if (answer !== null) return answer;
  throw new Failure(
    'notDone',
    'No service is running, so nothing can be sent. Start it: it sends pending records at once.',
  );
}
