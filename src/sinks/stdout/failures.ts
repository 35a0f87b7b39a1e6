import type { Failure } from '../sink.ts';
import { closed, notRead } from './sink.ts';

/** What this sink answers, for `infra/reference/failures.md`. */
export const failures: readonly Failure[] = [closed, notRead];
