import { lookAround } from './look.ts';
import type { Machine } from './machine.ts';
import { fromRoot } from './places.ts';
import type { CommandState, Found, RefusedVersion, Running } from './plan.ts';
import { createSystemd, type UnitState } from './systemd.ts';

/** What `service status --json` prints: what is installed and how systemd sees it. Fields are only ever added. */
export interface ServiceStatus {
  readonly installed: boolean;
  /** Of the folder that `current` names. */
  readonly version: string | null;
  /** What the next installation falls back to, other than the version that is installed. */
  readonly previous: string | null;
  /** The version that was to be installed last and is not what runs; null where it is, and for who may not read it. */
  readonly refused: RefusedVersion | null;
  /** A unit that an administrator has written, and that is kept; null: there is none. */
  readonly editedUnit: string | null;
  readonly versions: readonly string[];
  /**
   * Version, unit and configuration are those that became ready last; false: an installation was cut off, somebody changed them, or
   * it was not started since. Null: nobody has watched it become ready, as where it came with an image.
   */
  readonly isAsItWasReady: boolean | null;
  readonly enabled: boolean;
  /** Null where systemd does not run, or cannot be asked. */
  readonly service: null | Pick<UnitState, 'active' | 'sub' | 'pid' | 'restarts' | 'since' | 'says'>;
  readonly configuration: {
    readonly file: string;
    /** This and the problems are null for who is not root, and may not look at it. */
    readonly isThere: boolean | null;
    readonly problems: readonly string[] | null;
  };
  readonly stateDirectory: string;
  readonly command: CommandState;
}

/** Changes nothing. Whoever is not root sees what others may see. */
export async function serviceStatus(machine: Machine): Promise<ServiceStatus> {
  const { places, env, facts } = machine;
  const { isLive, programs, isRoot } = facts();
  const unit = isLive && programs.includes('systemctl') ? await createSystemd(env).unit() : null;
  const found = lookAround(places, unit);
  const { current, folders, ledger, configuration } = found;
  return {
    installed: current !== null && found.unit !== null,
    version: current,
    previous: fallsBackTo(found),
    refused: ledger?.refused ?? null,
    editedUnit: found.isUnitEdited ? fromRoot(places, places.administratorUnit) : null,
    versions: folders,
    isAsItWasReady: ledger === null ? null : ledger.isSettled && isAsItWas(found, ledger.ready, isRoot),
    enabled: found.service.enabled,
    service: unit && {
      active: unit.active,
      sub: unit.sub,
      pid: unit.pid,
      restarts: unit.restarts,
      since: unit.since,
      says: unit.says,
    },
    configuration: {
      file: fromRoot(places, places.configuration),
      isThere: isRoot ? configuration !== null : null,
      problems:
        isRoot && configuration !== null ? (machine.checkConfiguration(places.configuration).problems ?? []) : null,
    },
    stateDirectory: fromRoot(places, places.state),
    command: found.command,
  };
}

/** After an update that was cut off that is what was ready last, not what ran before it. */
function fallsBackTo({ current, ledger }: Found): string | null {
  if (ledger === null) return null;
  return ledger.ready.folder === current ? ledger.previous : ledger.ready.folder;
}

/** Whoever is not root may not look at the configuration. */
const isAsItWas = ({ current, unit, configuration }: Found, ready: Running, isRoot: boolean): boolean =>
  current === ready.folder && unit === ready.unit && (!isRoot || configuration === ready.configuration);
