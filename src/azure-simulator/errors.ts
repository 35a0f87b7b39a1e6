/** Exceptions inside the simulator's own handlers. A library under them would swallow or misreport them. */
export interface ErrorLog {
  readonly errors: readonly Error[];
  add(error: unknown): void;
  /** Wraps a handler so that whatever it throws, now or later, is kept instead of thrown. */
  guard<A extends unknown[]>(handler: (...args: A) => unknown): (...args: A) => void;
}

export function createErrorLog(): ErrorLog {
  const errors: Error[] = [];
  const add = (error: unknown): void => {
    errors.push(error instanceof Error ? error : new Error(String(error)));
  };
  return {
    errors,
    add,
    guard:
      (handler) =>
      (...args) => {
        try {
          const outcome = handler(...args);
          if (outcome instanceof Promise) outcome.catch(add);
        } catch (error) {
          add(error);
        }
      },
  };
}
