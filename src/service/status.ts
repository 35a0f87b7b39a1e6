import { inspect } from './linux/inspect.ts';
import { fromRoot } from './linux/places.ts';
import { createSystemd, type UnitState } from './linux/systemd.ts';
import type { Machine } from './machine.ts';
import type { CommandState, Observed, RefusedVersion, Running } from './plan.ts';

/** What `service status --json` prints: what is installed and how systemd sees it. Fields are only ever added. */
export interface ServiceStatus {
  readonly installed: boolean;
  /** Of the folder that `current` names. */
  readonly version: string | null;
  /** What the next installation falls back to, other than the version that is installed. */
  readonly previous: string | null;
  /** The version that was to be installed last and is not what runs; null where it is, and for who may not read it. */
  readonly refused: RefusedVersion | null;
  /** A unit that an administrator has written, and that is kept; null without one. */
  readonly editedUnit: string | null;
  readonly versions: readonly string[];
  /**
   * Version, unit and configuration are those that became ready last; false: an installation was interrupted, they were changed, or
   * it was not started since. Null: it was not observed becoming ready, as in an image.
   */
  readonly isAsItWasReady: boolean | null;
  readonly enabled: boolean;
  /** Null if systemd does not run or does not answer. */
  readonly service: null | Pick<UnitState, 'active' | 'sub' | 'pid' | 'restarts' | 'since' | 'message'>;
  readonly configuration: {
    readonly file: string;
    /** This and the problems are null for a user other than root, who may not read it. */
    readonly isThere: boolean | null;
    readonly problems: readonly string[] | null;
  };
  readonly stateDirectory: string;
  readonly command: CommandState;
}

/** Read-only. Without root it shows what is readable by all users. */
export async function serviceStatus(machine: Machine): Promise<ServiceStatus> {
  const { places, env, facts } = machine;
  const { isLive, programs, isRoot } = facts();
  const unit = isLive && programs.includes('systemctl') ? await createSystemd(env).unit() : null;
  const observed = inspect(places, unit);
  const { current, folders, record, configuration } = observed;
  return {
    installed: current !== null && observed.unit !== null,
    version: current,
    previous: fallsBackTo(observed),
    refused: record?.refused ?? null,
    editedUnit: observed.isUnitEdited ? fromRoot(places, places.administratorUnit) : null,
    versions: folders,
    isAsItWasReady: record === null ? null : record.isSettled && isAsItWas(observed, record.ready, isRoot),
    enabled: observed.service.enabled,
    service: unit && {
      active: unit.active,
      sub: unit.sub,
      pid: unit.pid,
      restarts: unit.restarts,
      since: unit.since,
      message: unit.message,
    },
    configuration: {
      file: fromRoot(places, places.configuration),
      isThere: isRoot ? configuration !== null : null,
      problems:
        isRoot && configuration !== null ? (machine.checkConfiguration(places.configuration).problems ?? []) : null,
    },
    stateDirectory: fromRoot(places, places.state),
    command: observed.command,
  };
}

/** After an update that was cut off that is what was ready last, not what ran before it. */
function fallsBackTo({ current, record }: Observed): string | null {
  if (record === null) return null;
  return record.ready.folder === current ? record.previous : record.ready.folder;
}

/** Only root may read the configuration. */
const isAsItWas = ({ current, unit, configuration }: Observed, ready: Running, isRoot: boolean): boolean =>
  current === ready.folder && unit === ready.unit && (!isRoot || configuration === ready.configuration);
