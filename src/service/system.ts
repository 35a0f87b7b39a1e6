import type { Package } from './package.ts';
import type { Observed, Step } from './plan.ts';
import type { Refusal } from './refusals.ts';
import type { Uninstalled } from './uninstall.ts';
import type { Words } from './words.ts';

/** What an operating system does for the installer. Each has its own folder: `linux/`, `windows/`. */
export interface System {
  readonly places: CommonPlaces;
  readonly words: Words;
  readonly manager: ServiceManager;
  /** A unit that an administrator has written would be here; null where an operating system has none. */
  readonly administratorUnit: string | null;
  /** Read-only, and asked once per request. */
  conditions(): Promise<Conditions>;
  /** What stands on this machine. `unit`: as the service manager sees it; null where it does not run, as in an image. */
  inspect(unit: UnitState | null): Promise<Observed>;
  /** A folder in `versions` holds exactly this build, and the account of the service can run it. */
  isPlaced(folder: string, desired: Package): boolean;
  /** @throws Refusal where the step is impossible. */
  perform(step: Step, material: Material): Promise<void>;
  /** Stops the service and removes all but what is kept. If interrupted, it can be repeated. */
  remove(kept: Kept): Promise<Uninstalled>;
  /** A path as it is named on the machine: tests and images have theirs below another root. */
  named(place: string): string;
}

/** The places that every operating system has. */
export interface CommonPlaces {
  readonly home: string;
  /** One folder per version: the present one and the one before. */
  readonly versions: string;
  readonly command: string;
  /** What ran last and was ready: see `InstallationRecord`. */
  readonly record: string;
  readonly configuration: string;
  readonly state: string;
  readonly lock: string;
}

/** What decides whether the bridge can be installed here. */
export interface Conditions {
  /** As packages name it: `linux-x64`. */
  readonly platform: string;
  /** The service manager runs, and can be asked. */
  readonly isLive: boolean;
  readonly isAdministrator: boolean;
  /** Why this user may not manage the service here; null if it may. */
  readonly forbidden: Refusal | null;
  /** Why it cannot be installed here; null if it can. What cannot be fixed comes first. */
  readonly unfitFor: (need: Need) => Refusal | null;
}

/** What is to be installed. */
export interface Need {
  /** Of the package, as `linux-x64`. */
  readonly platform: string;
  /** What is not yet there of it. */
  readonly bytes: number;
  /** It is to be started now. */
  readonly starts: boolean;
}

/** What the steps are made of. */
export interface Material {
  /** To be placed; null where nothing new comes. */
  readonly package: Package | null;
  /** To be written; null where it stays. */
  readonly configuration: Buffer | null;
}

/** What an uninstallation leaves in place. */
export interface Kept {
  readonly keepState: boolean;
  readonly keepConfiguration: boolean;
}

/** The service, as its manager sees it at one moment. The words are those of systemd. */
export interface UnitState {
  /** `active`, `activating`, `deactivating`, `inactive`, `failed`. */
  readonly active: string;
  /** `running`, `auto-restart`, `start`, … */
  readonly sub: string;
  /** As `enabled`, `disabled`, `masked`; empty where there is no unit. */
  readonly file: string;
  /** Another with every start; null before the first. */
  readonly invocation: string | null;
  /** Of the main process; null while none runs. */
  readonly pid: number | null;
  /** Automatic restarts since a user or the installer started it. */
  readonly restarts: number;
  /** The status sentence of the service. */
  readonly message: string;
  /** How the last main process ended. */
  readonly exitStatus: number;
  readonly result: string;
  /** The service manager does not know the unit, or not as it is on disk. */
  readonly isStale: boolean;
  readonly since: string | null;
}

/** The service manager, asked by its own program. */
export interface ServiceManager {
  unit(): Promise<UnitState>;
  /** Does not start the service with the machine any more. */
  disable(): Promise<void>;
  /** Returns when it has stopped. */
  stop(): Promise<void>;
  /** The last lines of the log since this start; empty where there is none. */
  lastLogLines(invocation: string | null): Promise<readonly string[]>;
}
