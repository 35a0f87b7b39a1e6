import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { apply } from './apply.ts';
import { type CheckedContent, candidateIn } from './configure.ts';
import { planFallBack } from './fall-back.ts';
import { readInstallationRecord } from './installation-record.ts';
import { alone, lockTimeoutMs } from './installer-lock.ts';
import type { Machine } from './machine.ts';
import { folderFor, type Package, readPackage, sha256 } from './package.ts';
import { type Desired, type Observed, type Plan, plan, planSettling, type Running, type Step } from './plan.ts';
import { whyUnreached } from './reach.ts';
import { type Readiness, waitUntilReady } from './ready.ts';
import { Refusal } from './refusals.ts';
import { readPublicKey } from './signature.ts';
import type { Conditions, Material, System } from './system.ts';

/** What a user, a package or an extension requests. Every request is idempotent. */
export interface Order {
  /** The folder of a package; null: the version that is installed. */
  readonly from: string | null;
  /** A file with the public key that the package has to be signed by; null: no signature is required. */
  readonly key: string | null;
  /** A file with the configuration, or its content; null: the one that is installed, if there is one. */
  readonly configuration: string | CheckedContent | null;
  /** `as-it-is`: a service that was disabled stays so. */
  readonly enable: Desired['enable'];
  /** False: it is started by the next start of the machine. */
  readonly start: boolean;
  /** Why this is no longer requested, where it may have waited long for another installer; null while it is. */
  readonly withdrawn?: () => Refusal | null;
}

/** The outcome, for the messages about it. */
export interface Done {
  readonly outcome: Plan['outcome'];
  /** The version's folder. */
  readonly folder: string;
  readonly from: string | null;
  /** Something was changed. */
  readonly changed: boolean;
  /** The service was installed before. */
  readonly wasThere: boolean;
  readonly command: Observed['command'];
  /** The unit that an administrator has written, which was kept; null without one. */
  readonly editedUnit: string | null;
  /** What the service says of itself; empty where it was not started. */
  readonly message: string;
  /** Why it gets no connection to the metadata service; null where it does, or was not started. */
  readonly unreached: string | null;
}

/**
 * Installs, updates, configures or enables: brings the machine to what is wanted, waits until the service is ready, and goes back
 * to what was ready before where it does not become so.
 * @throws Refusal where the installation failed: before anything was changed, or after everything was changed back. Where nothing was ready
 * before, completed steps stay, and the same command continues from there.
 */
export async function install(machine: Machine, order: Order): Promise<Done> {
  const { system, clock } = machine;
  const { places } = system;
  const conditions = await system.conditions();
  const { forbidden } = conditions;
  if (forbidden !== null) throw forbidden;
  const key = order.key === null ? null : readPublicKey(order.key);
  const brought = await alone(places.lock, { clock, timeoutMs: lockTimeoutMs }, async () => {
    confirm(order);
    const wantedPackage = order.from === null ? null : readPackage(resolve(order.from), key);
    try {
      return await bringPackage(machine, order, wantedPackage, conditions);
    } catch (error) {
      if (wantedPackage !== null && !isWithdrawn(order)) await recordRefused(machine, wantedPackage.version, error);
      throw error;
    }
  });
  if (brought.outcome !== 'becomes-ready' && brought.outcome !== 'ready-already') {
    return { ...brought, message: '', unreached: null };
  }
  // Nothing is changed any more: another installer need not wait for this.
  const unreached = await whyUnreached(machine, places.state);
  // It is done; that the service manager does not answer in time is not a failure.
  const unit = await system.manager.unit().catch(() => null);
  return { ...brought, unreached, message: unit?.message ?? '' };
}

const isWithdrawn = ({ withdrawn }: Order): boolean => (withdrawn?.() ?? null) !== null;

/** @throws Refusal where the order was withdrawn. */
function confirm({ withdrawn }: Order): void {
  const refusal = withdrawn?.() ?? null;
  if (refusal !== null) throw refusal;
}

async function bringPackage(machine: Machine, order: Order, wantedPackage: Package | null, conditions: Conditions) {
  const { system } = machine;
  const { places, words } = system;
  const folder = wantedPackage && folderOf(wantedPackage, system);
  const bytes = wantedPackage && folder && !existsSync(join(places.versions, folder)) ? wantedPackage.bytes : 0;
  // Without a package the configuration is what the command is about: its problems come before those of the machine.
  const given = wantedPackage === null ? candidateOf(order, machine) : null;
  const platform = wantedPackage?.platform ?? conditions.platform;
  const refusal = conditions.unfitFor({ platform, bytes, starts: order.start });
  if (refusal !== null) throw refusal;
  const candidate = given ?? candidateOf(order, machine);
  const unit = conditions.isLive ? await system.manager.unit() : null;
  const observed = await system.inspect(unit);
  if (observed.service.isMasked && order.from === null && order.enable === 'always') {
    throw words.cannotStart();
  }
  const desired = wantedFrom(observed, order, { folder, package: wantedPackage, candidate });
  const material = { package: wantedPackage, configuration: candidate };
  return bring({ machine, order, observed, desired, material, before: unit?.invocation ?? null });
}

/** So that status, check and heartbeat can say that another version was wanted. Best effort: the error is what counts. */
async function recordRefused(machine: Machine, version: string, error: unknown): Promise<void> {
  const record = readInstallationRecord(machine.system.places);
  if (record === null || !(error instanceof Refusal)) return;
  const { folder } = record.ready;
  if (folder === version || folder.startsWith(`${version}+`)) return;
  const [because = ''] = error.message.split('\n');
  const step = { do: 'record', record: { ...record, refused: { version, because } } } as const;
  await apply([step], machine.system, { package: null, configuration: null }).catch(() => {});
}

const folderOf = (desired: Package, system: System): string =>
  folderFor(desired, (name) => {
    const folder = join(system.places.versions, name);
    if (!existsSync(folder)) return 'absent';
    return system.isPlaced(folder, desired) ? 'this' : 'other';
  });

/** The given or the installed one; null without either. */
function candidateOf({ configuration }: Order, machine: Machine): Buffer | null {
  if (configuration !== null) return candidateIn(configuration, machine);
  const installed = machine.system.places.configuration;
  return existsSync(installed) ? candidateIn(installed, machine) : null;
}

function wantedFrom(
  observed: Observed,
  { enable, start }: Order,
  given: { readonly folder: string | null; readonly package: Package | null; readonly candidate: Buffer | null },
): Desired {
  const folder = given.folder ?? observed.current;
  const ownUnit = given.package?.unitSha256 ?? observed.ownUnit ?? observed.unit;
  if (folder === null || ownUnit === null) {
    throw new Refusal('notDone', 'The service is not installed here: install it from the folder of a package first.');
  }
  return {
    enable,
    start,
    ownUnit,
    namesVersion: given.folder !== null,
    running: {
      folder,
      // An administrator's is what the service manager reads, also with the new version.
      unit: observed.isUnitEdited && observed.unit !== null ? observed.unit : ownUnit,
      configuration: given.candidate && sha256(given.candidate),
    },
  };
}

interface Work {
  readonly machine: Machine;
  readonly order: Order;
  readonly observed: Observed;
  readonly desired: Desired;
  readonly material: Material;
  /** The start that is being replaced. */
  readonly before: string | null;
}

async function bring(work: Work): Promise<Omit<Done, 'message' | 'unreached'>> {
  const { machine, order, observed, desired, material, before } = work;
  const { system } = machine;
  const planned = plan(observed, desired);
  const { steps, outcome, fallBackTo } = planned;
  try {
    await apply(steps, system, material, (step) => step.do === 'switch' && confirm(order));
  } catch (error) {
    if (fallBackTo !== null) await goBackQuietly(work, fallBackTo);
    throw error;
  }
  if (outcome === 'becomes-ready') {
    const readiness = await ready(work, before);
    if (!readiness.ready) throw await goBack(work, readiness, fallBackTo);
  }
  await apply(planSettling(await system.inspect(null), desired, planned), system, material);
  const { folder } = desired.running;
  const from = observed.current === folder ? null : observed.current;
  return {
    outcome,
    folder,
    from,
    changed: steps.length > 0,
    wasThere: observed.current !== null,
    command: observed.command,
    editedUnit: observed.isUnitEdited ? system.administratorUnit : null,
  };
}

const ready = ({ machine }: Work, before: string | null): Promise<Readiness> =>
  waitUntilReady(machine, machine.system, { before, stateDirectory: machine.system.places.state });

/** What was started runs on; what is on disk is what ran before, so that it is what the next start finds. */
async function goBackQuietly({ machine: { system }, material }: Work, to: Running): Promise<void> {
  const { steps } = planFallBack(await system.inspect(await system.manager.unit()), to);
  await apply(
    steps.filter((step) => step.do !== 'restart'),
    system,
    material,
  ).catch(() => {});
}

/** Falls back, and returns why. */
async function goBack(work: Work, failed: Readiness & { readonly ready: false }, to: Running | null): Promise<Refusal> {
  const { machine, desired, material } = work;
  const { system } = machine;
  const { words } = system;
  const { folder } = desired.running;
  const refusalWith = (sentence: string, logLines = failed.words): Refusal =>
    new Refusal('notDone', [sentence, ...logLines.map((word) => `  ${word}`)].join('\n'));
  if (to === null) {
    return refusalWith(
      `Version ${folder} is installed and enabled, but it does not become ready: ${failed.because}. ${words.manager} keeps restarting it; see: ${words.showServiceLog}`,
    );
  }
  const what = to.folder === folder ? 'With this configuration the service' : `Version ${folder}`;
  const was = to.folder === folder ? 'the configuration before' : `version ${to.folder}`;
  machine.say(`${what} does not become ready: ${failed.because}. Going back to ${was}.`);
  const unit = await system.manager.unit();
  const { steps, keepsNewConfiguration } = planFallBack(await system.inspect(unit), to);
  await apply(steps, system, material);
  const again = await ready(work, unit.invocation);
  const kept = keepsNewConfiguration
    ? ` The configuration that it ran with is missing: ${system.named(system.places.configuration)} is the new one.`
    : '';
  if (again.ready) {
    const { previous = null, refused = null } = work.observed.record ?? {};
    const record = { ready: to, isSettled: true, previous, refused };
    const steps: readonly Step[] = [{ do: 'record', record }, { do: 'forget-configuration' }];
    await apply(steps, system, material);
    return refusalWith(
      `${what} did not become ready: ${failed.because}. Back to ${was}, which is ready; nothing is lost.${kept}`,
    );
  }
  return refusalWith(
    `${what} did not become ready: ${failed.because}. Back to ${was}, which does not become ready either: ${again.because}.${kept} See: ${words.showServiceLog}`,
    [...failed.words, ...again.words],
  );
}
