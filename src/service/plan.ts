/**
 * What can be seen to run: a version's folder, the unit that systemd reads (an administrator's, where one is edited), the
 * configuration. The last two as SHA-256 of the file.
 */
export interface Running {
  readonly folder: string;
  readonly unit: string;
  /** Null: without one nothing can run. */
  readonly configuration: string | null;
}

/** What has been ready: to fall back to, and not to be restarted without a reason. */
export interface InstallationRecord {
  readonly ready: Running;
  /** It is what runs and what is on disk. False from the first change on until something has become ready again. */
  readonly isSettled: boolean;
  /** The folder of the version before, kept. */
  readonly previous: string | null;
  /** Null: what was to be installed last is what runs. */
  readonly refused: RefusedVersion | null;
}

/** A version that was to be installed and is not what runs: it did not become ready, or was refused before it was started. */
export interface RefusedVersion {
  readonly version: string;
  /** One sentence. */
  readonly because: string;
}

/** Of the command in the path. `foreign`: belongs to another product, and is left alone. `no-place`: its file system is read-only, as on Flatcar. */
export type CommandState = 'ours' | 'absent' | 'foreign' | 'no-place';

/** What is there. */
export interface Observed {
  /** The folder in `versions/` that `current` names. */
  readonly current: string | null;
  /** The folders in `versions/`, leftovers of a stopped installation included. */
  readonly folders: readonly string[];
  /** SHA-256 of the unit that systemd reads. */
  readonly unit: string | null;
  /** SHA-256 of the unit that it reads without an administrator's. */
  readonly ownUnit: string | null;
  /** An administrator has written a unit, which is kept. */
  readonly isUnitEdited: boolean;
  readonly configuration: string | null;
  /** It and its folder are root's to write, readable by the account, and by no other user. */
  readonly isGuarded: boolean;
  readonly keptConfiguration: string | null;
  /** Null where no service has become ready yet. */
  readonly record: InstallationRecord | null;
  readonly account: boolean;
  /** `remove.sh` stands there as it should. */
  readonly remover: boolean;
  readonly command: CommandState;
  readonly service: {
    /** It starts at boot. */
    readonly enabled: boolean;
    readonly active: boolean;
    /** systemd has not read the unit as it is on disk. */
    readonly isStale: boolean;
    /** By `systemctl mask`: nothing can start it. */
    readonly isMasked: boolean;
  };
}

/** What there is to be. */
export interface Desired {
  readonly running: Running;
  /** SHA-256 of the version's own unit. */
  readonly ownUnit: string;
  /** A version was named, which clears the refusal of an earlier one. */
  readonly namesVersion: boolean;
  /** `as-it-is`: a service that was disabled stays so. */
  readonly enable: 'always' | 'as-it-is';
  /** False in an image, where nothing can be started. */
  readonly start: boolean;
}

/** One thing to do. Each may be done twice, and may be cut off anywhere. */
export type Step =
  | { readonly do: 'make-account' | 'keep-configuration' | 'write-configuration' | 'restore-configuration' }
  | { readonly do: 'place' | 'write-unit' | 'switch'; readonly folder: string }
  | { readonly do: 'write-remover' | 'link-command' | 'reload' | 'enable' | 'restart' | 'forget-configuration' }
  | { readonly do: 'record'; readonly record: InstallationRecord }
  | { readonly do: 'prune'; readonly folders: readonly string[] };

export interface Plan {
  readonly steps: readonly Step[];
  /**
   * `waits`: there is no configuration yet. `rests`: it was disabled, and enabling was not requested. `masked`: systemd may not start it.
   * `later`: with the next start of the machine.
   */
  readonly outcome: 'ready-already' | 'becomes-ready' | 'waits' | 'rests' | 'masked' | 'later';
  /** Where to fall back to when it does not become ready. Null: there is nothing that ever was. */
  readonly fallBackTo: Running | null;
}

/** From what is there to what is wanted. The service is restarted only when version, unit or configuration is another. */
export function plan(observed: Observed, desired: Desired): Plan {
  const { running } = desired;
  const { service, record } = observed;
  const outcome = outcomeOf(observed, desired);
  const isOtherConfiguration = running.configuration !== null && running.configuration !== observed.configuration;
  const isOtherUnit = desired.ownUnit !== observed.ownUnit;
  const fallBackTo = lastGood(observed, running);
  const isWorthKeeping = observed.configuration !== null && observed.configuration === fallBackTo?.configuration;
  // It was disabled on purpose, unless it was never ready.
  const outOfDate = record?.isSettled && outcome !== 'ready-already' ? { ...record, isSettled: false } : null;
  const mayEnable = desired.enable === 'always' || record === null;
  return {
    outcome,
    fallBackTo,
    steps: listOf(
      !observed.folders.includes(running.folder) && { do: 'place', folder: running.folder },
      outOfDate !== null && { do: 'record', record: outOfDate },
      !observed.account && { do: 'make-account' },
      isOtherConfiguration && isWorthKeeping && { do: 'keep-configuration' },
      (isOtherConfiguration || (running.configuration !== null && !observed.isGuarded)) && {
        do: 'write-configuration',
      },
      isOtherUnit && { do: 'write-unit', folder: running.folder },
      observed.current !== running.folder && { do: 'switch', folder: running.folder },
      !observed.remover && { do: 'write-remover' },
      observed.command === 'absent' && { do: 'link-command' },
      desired.start && (isOtherUnit || service.isStale) && { do: 'reload' },
      outcome !== 'waits' && outcome !== 'masked' && !service.enabled && mayEnable && { do: 'enable' },
      outcome === 'becomes-ready' && { do: 'restart' },
    ),
  };
}

function outcomeOf(observed: Observed, { running, enable, start }: Desired): Plan['outcome'] {
  const { record, service } = observed;
  if (running.configuration === null) return 'waits';
  if (service.isMasked) return 'masked';
  if (enable === 'as-it-is' && record !== null && !service.enabled && !service.active) return 'rests';
  if (!start) return 'later';
  const { current: folder, unit, configuration } = observed;
  const isOnDisk = folder === running.folder && unit === running.unit && configuration === running.configuration;
  const isReady = service.active && record?.isSettled === true && isSame(record.ready, running);
  return isReady && isOnDisk ? 'ready-already' : 'becomes-ready';
}

/** What was ready last; if that is not recorded, what runs now. */
function lastGood(
  { record, folders, current, unit, configuration, service }: Observed,
  running: Running,
): Running | null {
  const ran =
    service.active && current !== null && unit !== null && configuration !== null
      ? { folder: current, unit, configuration }
      : null;
  const good = record?.ready ?? ran;
  return good !== null && folders.includes(good.folder) && !isSame(good, running) ? good : null;
}

const isSame = (a: Running, b: Running): boolean =>
  a.folder === b.folder && a.unit === b.unit && a.configuration === b.configuration;

/**
 * The last step: the ready version is recorded, and all versions but this one and the previous one are removed. Where nothing was
 * started, nothing is known, and what was ready last is kept as well.
 */
export function planSettling(observed: Observed, desired: Desired, { outcome, fallBackTo }: Plan): readonly Step[] {
  const { running, namesVersion } = desired;
  const isReady = outcome === 'becomes-ready' || outcome === 'ready-already';
  const { record, folders } = observed;
  const isBefore = (folder: string | undefined | null): folder is string =>
    typeof folder === 'string' && folder !== running.folder && folders.includes(folder);
  const previous = [fallBackTo?.folder, record?.previous].find(isBefore) ?? null;
  const refused = namesVersion ? null : (record?.refused ?? null);
  const kept = [running.folder, previous, ...(isReady ? [] : [record?.ready.folder, record?.previous])];
  const old = folders.filter((folder) => !kept.includes(folder));
  return listOf(
    isReady && { do: 'record', record: { ready: running, isSettled: true, previous, refused } },
    !isReady &&
      namesVersion &&
      record !== null &&
      record.refused !== null && { do: 'record', record: { ...record, refused } },
    isReady && observed.keptConfiguration !== null && { do: 'forget-configuration' },
    old.length > 0 && { do: 'prune', folders: old },
  );
}

/** Only what applies, in order. */
export const listOf = (...steps: readonly (Step | false)[]): readonly Step[] => steps.filter((step) => step !== false);
