/**
 * Moments at which a crash is a case of its own: between two effects that have to look like one. Each is passed in one place of the
 * code; `test/faults/` ends the process at each of them. In the order in which a record passes them, then opening, upkeep and stopping.
 */
export type FaultPoint =
  | 'before-append'
  | 'in-append'
  | 'before-position-mark'
  | 'after-append'
  | 'before-send'
  | 'request-handed-over'
  | 'sink-accepted'
  | 'result-arrived'
  | 'dead-letter'
  | 'before-settle'
  | 'in-settle'
  | 'after-settle'
  | 'in-migration'
  | 'replacement-written'
  | 'before-quarantine'
  | 'in-quarantine'
  | 'before-install'
  | 'before-checkpoint'
  | 'in-prune'
  | 'in-maintenance'
  | 'draining'
  | 'before-close';

/** `before-send`, or `before-send:3` for the third time that the process passes it. Without the prefix of options: it is none. */
const variable = 'BRIDGE_FAULT_POINT';

/** Ends this process with SIGKILL at the fault point that the environment names. Does nothing without the variable. */
export const faultPoint: (name: FaultPoint) => void = openFaultPoint(process.env, () =>
  process.kill(process.pid, 'SIGKILL'),
);

export function openFaultPoint(env: NodeJS.ProcessEnv, kill: () => void): (name: FaultPoint) => void {
  const [chosen, times = '1'] = env[variable]?.split(':') ?? [];
  if (chosen === undefined) return () => {};
  let left = Number(times);
  return (name) => {
    if (name !== chosen) return;
    left -= 1;
    if (left === 0) kill();
  };
}
