/**
 * What can be seen to run: a version's folder, the unit that systemd reads (an administrator's, where one is edited), the
 * configuration. The last two as SHA-256 of the file.
 */
export interface Running {
  readonly folder: string;
  readonly unit: string;
  /** Null: there is none, so nothing can run. */
  readonly configuration: string | null;
}

/** What has been ready: to fall back to, and not to be restarted without a reason. */
export interface Ledger {
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

/** Of the command in the path. `foreign`: somebody else's, and left alone. `no-place`: its file system is read-only, as on Flatcar. */
export type CommandState = 'ours' | 'absent' | 'foreign' | 'no-place';

/** What is there. */
export interface Found {
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
  /** It and its folder are root's to write, the account's to read, and nobody else's. */
  readonly isGuarded: boolean;
  readonly keptConfiguration: string | null;
  /** Null where no service has become ready yet. */
  readonly ledger: Ledger | null;
  readonly account: boolean;
  /** `remove.sh` stands there as it should. */
  readonly remover: boolean;
  readonly command: CommandState;
  readonly service: {
    /** It starts with the machine. */
    readonly enabled: boolean;
    readonly active: boolean;
    /** systemd has not read the unit as it is on disk. */
    readonly isStale: boolean;
    /** By `systemctl mask`: nothing can start it. */
    readonly isMasked: boolean;
  };
}

/** What there is to be. */
export interface Wanted {
  readonly running: Running;
  /** SHA-256 of the version's own unit. */
  readonly ownUnit: string;
  /** A version was named, so that a refusal of an earlier one is over. */
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
  | { readonly do: 'record'; readonly ledger: Ledger }
  | { readonly do: 'prune'; readonly folders: readonly string[] };

export interface Plan {
  readonly steps: readonly Step[];
  /**
   * `waits`: there is no configuration yet. `rests`: it was disabled, and nobody asked for more. `masked`: systemd may not start it.
   * `later`: with the next start of the machine.
   */
  readonly outcome: 'ready-already' | 'becomes-ready' | 'waits' | 'rests' | 'masked' | 'later';
  /** Where to fall back to when it does not become ready. Null: there is nothing that ever was. */
  readonly fallBackTo: Running | null;
}

/** From what is there to what is wanted. The service is restarted only when version, unit or configuration is another. */
export function plan(found: Found, wanted: Wanted): Plan {
  const { running } = wanted;
  const { service, ledger } = found;
  const outcome = outcomeOf(found, wanted);
  const isOtherConfiguration = running.configuration !== null && running.configuration !== found.configuration;
  const isOtherUnit = wanted.ownUnit !== found.ownUnit;
  const fallBackTo = lastGood(found, running);
  const isWorthKeeping = found.configuration !== null && found.configuration === fallBackTo?.configuration;
  // Whoever disabled it knew why; before it was ever ready, nobody has.
  const outOfDate = ledger?.isSettled && outcome !== 'ready-already' ? { ...ledger, isSettled: false } : null;
  const mayEnable = wanted.enable === 'always' || ledger === null;
  return {
    outcome,
    fallBackTo,
    steps: listOf(
      !found.folders.includes(running.folder) && { do: 'place', folder: running.folder },
      outOfDate !== null && { do: 'record', ledger: outOfDate },
      !found.account && { do: 'make-account' },
      isOtherConfiguration && isWorthKeeping && { do: 'keep-configuration' },
      (isOtherConfiguration || (running.configuration !== null && !found.isGuarded)) && { do: 'write-configuration' },
      isOtherUnit && { do: 'write-unit', folder: running.folder },
      found.current !== running.folder && { do: 'switch', folder: running.folder },
      !found.remover && { do: 'write-remover' },
      found.command === 'absent' && { do: 'link-command' },
      wanted.start && (isOtherUnit || service.isStale) && { do: 'reload' },
      outcome !== 'waits' && outcome !== 'masked' && !service.enabled && mayEnable && { do: 'enable' },
      outcome === 'becomes-ready' && { do: 'restart' },
    ),
  };
}

function outcomeOf(found: Found, { running, enable, start }: Wanted): Plan['outcome'] {
  const { ledger, service } = found;
  if (running.configuration === null) return 'waits';
  if (service.isMasked) return 'masked';
  if (enable === 'as-it-is' && ledger !== null && !service.enabled && !service.active) return 'rests';
  if (!start) return 'later';
  const { current: folder, unit, configuration } = found;
  const isOnDisk = folder === running.folder && unit === running.unit && configuration === running.configuration;
  const isReady = service.active && ledger?.isSettled === true && isSame(ledger.ready, running);
  return isReady && isOnDisk ? 'ready-already' : 'becomes-ready';
}

/** What was ready last; where nobody wrote that down, what runs now. */
function lastGood({ ledger, folders, current, unit, configuration, service }: Found, running: Running): Running | null {
  const ran =
    service.active && current !== null && unit !== null && configuration !== null
      ? { folder: current, unit, configuration }
      : null;
  const good = ledger?.ready ?? ran;
  return good !== null && folders.includes(good.folder) && !isSame(good, running) ? good : null;
}

const isSame = (a: Running, b: Running): boolean =>
  a.folder === b.folder && a.unit === b.unit && a.configuration === b.configuration;

/**
 * At the end of the way: what is ready is written down, and versions go but for this one and the one before. Where nothing was
 * started, nothing is known, and what was ready last is kept as well.
 */
export function planSettling(found: Found, wanted: Wanted, { outcome, fallBackTo }: Plan): readonly Step[] {
  const { running, namesVersion } = wanted;
  const isReady = outcome === 'becomes-ready' || outcome === 'ready-already';
  const { ledger, folders } = found;
  const isBefore = (folder: string | undefined | null): folder is string =>
    typeof folder === 'string' && folder !== running.folder && folders.includes(folder);
  const previous = [fallBackTo?.folder, ledger?.previous].find(isBefore) ?? null;
  const refused = namesVersion ? null : (ledger?.refused ?? null);
  const kept = [running.folder, previous, ...(isReady ? [] : [ledger?.ready.folder, ledger?.previous])];
  const old = folders.filter((folder) => !kept.includes(folder));
  return listOf(
    isReady && { do: 'record', ledger: { ready: running, isSettled: true, previous, refused } },
    !isReady &&
      namesVersion &&
      ledger !== null &&
      ledger.refused !== null && { do: 'record', ledger: { ...ledger, refused } },
    isReady && found.keptConfiguration !== null && { do: 'forget-configuration' },
    old.length > 0 && { do: 'prune', folders: old },
  );
}

/** Only what applies, in order. */
export const listOf = (...steps: readonly (Step | false)[]): readonly Step[] => steps.filter((step) => step !== false);
