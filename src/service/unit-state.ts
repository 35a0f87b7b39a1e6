import type { UnitState } from './system.ts';

/** What `systemctl show` prints: `Name=value` lines in systemd's order. */
export function stateIn(shown: string): UnitState {
  const properties = new Map(
    shown.split('\n').map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1).trim()];
    }),
  );
  const text = (name: string): string => properties.get(name) ?? '';
  const number = (name: string): number => Number(text(name)) || 0;
  return {
    active: text('ActiveState'),
    sub: text('SubState'),
    file: text('UnitFileState'),
    invocation: text('InvocationID') || null,
    pid: number('MainPID') || null,
    restarts: number('NRestarts'),
    message: text('StatusText'),
    exitStatus: number('ExecMainStatus'),
    result: text('Result'),
    isStale: text('NeedDaemonReload') === 'yes' || text('LoadState') === 'not-found',
    since: text('ActiveEnterTimestamp') || null,
  };
}
