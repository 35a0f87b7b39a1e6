import type { Machine } from './machine.ts';
import type { CommandState, Observed, RefusedVersion, Running } from './plan.ts';
import type { UnitState } from './system.ts';

/** What `service status --json` prints: what is installed and how the service manager sees it. Fields are only ever added. */
export interface ServiceStatus {
  readonly installed: boolean;
  /** Of the folder of the version that the service runs. */
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
  /** Null if the service manager does not run. */
  readonly service: null | Pick<UnitState, 'active' | 'sub' | 'pid' | 'restarts' | 'since' | 'message'>;
  readonly configuration: {
    readonly file: string;
    /** This and the problems are null for a user other than an administrator, who may not read it. */
    readonly isThere: boolean | null;
    readonly problems: readonly string[] | null;
  };
  readonly stateDirectory: string;
  readonly command: CommandState;
}

/** Read-only. Without an administrator's rights it shows what is readable by all users. */
export async function serviceStatus(machine: Machine): Promise<ServiceStatus> {
  const { system, checkConfiguration } = machine;
  const { places } = system;
  const { isLive, isAdministrator } = await system.conditions();
  const unit = isLive ? await system.manager.unit() : null;
  const observed = await system.inspect(unit);
  const { current, folders, record, configuration } = observed;
  return {
    installed: current !== null && observed.unit !== null,
    version: current,
    previous: fallsBackTo(observed),
    refused: record?.refused ?? null,
    editedUnit: observed.isUnitEdited ? system.administratorUnit : null,
    versions: folders,
    isAsItWasReady: record === null ? null : record.isSettled && isAsItWas(observed, record.ready, isAdministrator),
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
      file: system.named(places.configuration),
      isThere: isAdministrator ? configuration !== null : null,
      problems:
        isAdministrator && configuration !== null ? (checkConfiguration(places.configuration).problems ?? []) : null,
    },
    stateDirectory: system.named(places.state),
    command: observed.command,
  };
}

/** After an update that was cut off that is what was ready last, not what ran before it. */
function fallsBackTo({ current, record }: Observed): string | null {
  if (record === null) return null;
  return record.ready.folder === current ? record.previous : record.ready.folder;
}

/** Only an administrator may read the configuration. */
const isAsItWas = ({ current, unit, configuration }: Observed, ready: Running, isAdministrator: boolean): boolean =>
  current === ready.folder && unit === ready.unit && (!isAdministrator || configuration === ready.configuration);
