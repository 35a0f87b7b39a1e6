import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { candidateIn } from './configure.ts';
import { planFallBack } from './fall-back.ts';
import { alone, lockTimeoutMs } from './installer-lock.ts';
import { apply, type Material } from './linux/apply.ts';
import { inspect, readInstallationRecord } from './linux/inspect.ts';
import { fromRoot, serviceName } from './linux/places.ts';
import { forbids, preflight } from './linux/preflight.ts';
import { createSystemd, type Systemd } from './linux/systemd.ts';
import type { Facts, Machine } from './machine.ts';
import { folderFor, isPlaced, type Package, readPackage, sha256 } from './package.ts';
import { type Desired, type Observed, type Plan, plan, planSettling, type Running, type Step } from './plan.ts';
import { whyUnreached } from './reach.ts';
import { type Readiness, waitUntilReady } from './ready.ts';
import { Refusal } from './refusals.ts';
import { readPublicKey } from './signature.ts';

/** What a user, a package or an extension requests. Every request is idempotent. */
export interface Order {
  /** The folder of a package; null: the version that is installed. */
  readonly from: string | null;
  /** A file with the public key that the package has to be signed by; null: no signature is required. */
  readonly key: string | null;
  /** A file with the configuration; null: the one that is installed, if there is one. */
  readonly configuration: string | null;
  /** `as-it-is`: a service that was disabled stays so. */
  readonly enable: Desired['enable'];
  /** False: it is started by the next start of the machine. */
  readonly start: boolean;
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
  const { places, clock, env } = machine;
  const facts = machine.facts();
  const forbidden = forbids(facts);
  if (forbidden !== null) throw forbidden;
  const key = order.key === null ? null : readPublicKey(order.key);
  const brought = await alone(places.lock, { clock, timeoutMs: lockTimeoutMs }, async () => {
    const wantedPackage = order.from === null ? null : readPackage(resolve(order.from), key);
    try {
      return await bringPackage(machine, order, wantedPackage, facts);
    } catch (error) {
      if (wantedPackage !== null) await recordRefused(machine, wantedPackage.version, error);
      throw error;
    }
  });
  if (brought.outcome !== 'becomes-ready' && brought.outcome !== 'ready-already') {
    return { ...brought, message: '', unreached: null };
  }
  // Nothing is changed any more: another installer need not wait for this.
  const unreached = await whyUnreached(machine, places.state);
  // It is done; that systemd does not answer in time is not a failure.
  const unit = await createSystemd(env)
    .unit()
    .catch(() => null);
  return { ...brought, unreached, message: unit?.message ?? '' };
}

async function bringPackage(machine: Machine, order: Order, wantedPackage: Package | null, facts: Facts) {
  const { places, env } = machine;
  const systemd = createSystemd(env);
  const folder = wantedPackage && folderOf(wantedPackage, places.versions);
  const bytes = wantedPackage && folder && !existsSync(join(places.versions, folder)) ? wantedPackage.bytes : 0;
  // Without a package the configuration is what the command is about: its problems come before those of the machine.
  const given = wantedPackage === null ? candidateOf(order, machine) : null;
  const platform = wantedPackage?.platform ?? `${facts.operatingSystem}-${facts.processor}`;
  const refusal = preflight(facts, { platform, bytes, starts: order.start });
  if (refusal !== null) throw refusal;
  const candidate = given ?? candidateOf(order, machine);
  const unit = facts.isLive ? await systemd.unit() : null;
  const observed = inspect(places, unit);
  if (observed.service.isMasked && order.from === null && order.enable === 'always') {
    throw new Refusal(
      'notDone',
      `The unit is masked, so it cannot be started: run systemctl unmask ${serviceName}, then try again.`,
    );
  }
  const desired = wantedFrom(observed, order, { folder, package: wantedPackage, candidate });
  const material = { package: wantedPackage, configuration: candidate };
  return bring({ machine, systemd, observed, desired, material, before: unit?.invocation ?? null });
}

/** So that status, check and heartbeat can say that another version was wanted. Best effort: the error is what counts. */
async function recordRefused(machine: Machine, version: string, error: unknown): Promise<void> {
  const { places, env } = machine;
  const record = readInstallationRecord(places);
  if (record === null || !(error instanceof Refusal)) return;
  const { folder } = record.ready;
  if (folder === version || folder.startsWith(`${version}+`)) return;
  const [because = ''] = error.message.split('\n');
  const step = { do: 'record', record: { ...record, refused: { version, because } } } as const;
  await apply([step], machine, createSystemd(env), { package: null, configuration: null }).catch(() => {});
}

const folderOf = (desired: Package, versions: string): string =>
  folderFor(desired, (name) => {
    const folder = join(versions, name);
    if (!existsSync(folder)) return 'absent';
    return isPlaced(folder, desired) ? 'this' : 'other';
  });

/** The given or the installed one; null without either. */
function candidateOf({ configuration }: Order, machine: Machine): Buffer | null {
  const { places } = machine;
  if (configuration !== null) return candidateIn(configuration, machine);
  return existsSync(places.configuration) ? candidateIn(places.configuration, machine) : null;
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
      // An administrator's is what systemd reads, also with the new version.
      unit: observed.isUnitEdited && observed.unit !== null ? observed.unit : ownUnit,
      configuration: given.candidate && sha256(given.candidate),
    },
  };
}

interface Work {
  readonly machine: Machine;
  readonly systemd: Systemd;
  readonly observed: Observed;
  readonly desired: Desired;
  readonly material: Material;
  /** The start that is being replaced. */
  readonly before: string | null;
}

async function bring(work: Work): Promise<Omit<Done, 'message' | 'unreached'>> {
  const { machine, systemd, observed, desired, material, before } = work;
  const planned = plan(observed, desired);
  const { steps, outcome, fallBackTo } = planned;
  try {
    await apply(steps, machine, systemd, material);
  } catch (error) {
    if (fallBackTo !== null) await goBackQuietly(work, fallBackTo);
    throw error;
  }
  if (outcome === 'becomes-ready') {
    const readiness = await ready(work, before);
    if (!readiness.ready) throw await goBack(work, readiness, fallBackTo);
  }
  await apply(planSettling(inspect(machine.places, null), desired, planned), machine, systemd, material);
  const { folder } = desired.running;
  const from = observed.current === folder ? null : observed.current;
  return {
    outcome,
    folder,
    from,
    changed: steps.length > 0,
    wasThere: observed.current !== null,
    command: observed.command,
    editedUnit: observed.isUnitEdited ? fromRoot(machine.places, machine.places.administratorUnit) : null,
  };
}

const ready = ({ machine, systemd }: Work, before: string | null): Promise<Readiness> =>
  waitUntilReady(machine, systemd, { before, stateDirectory: machine.places.state });

/** What was started runs on; what is on disk is what ran before, so that it is what the next start finds. */
async function goBackQuietly({ machine, systemd, material }: Work, to: Running): Promise<void> {
  const { steps } = planFallBack(inspect(machine.places, await systemd.unit()), to);
  await apply(
    steps.filter((step) => step.do !== 'restart'),
    machine,
    systemd,
    material,
  ).catch(() => {});
}

/** Falls back, and returns why. */
async function goBack(work: Work, failed: Readiness & { readonly ready: false }, to: Running | null): Promise<Refusal> {
  const { machine, systemd, desired, material } = work;
  const { folder } = desired.running;
  const refusalWith = (sentence: string, words = failed.words): Refusal =>
    new Refusal('notDone', [sentence, ...words.map((word) => `  ${word}`)].join('\n'));
  if (to === null) {
    return refusalWith(
      `Version ${folder} is installed and enabled, but it does not become ready: ${failed.because}. systemd keeps restarting it; see: journalctl -u ${serviceName}`,
    );
  }
  const what = to.folder === folder ? 'With this configuration the service' : `Version ${folder}`;
  const was = to.folder === folder ? 'the configuration before' : `version ${to.folder}`;
  machine.say(`${what} does not become ready: ${failed.because}. Going back to ${was}.`);
  const unit = await systemd.unit();
  const { steps, keepsNewConfiguration } = planFallBack(inspect(machine.places, unit), to);
  await apply(steps, machine, systemd, material);
  const again = await ready(work, unit.invocation);
  const kept = keepsNewConfiguration
    ? ` The configuration that it ran with is missing: ${fromRoot(machine.places, machine.places.configuration)} is the new one.`
    : '';
  if (again.ready) {
    const { previous = null, refused = null } = work.observed.record ?? {};
    const record = { ready: to, isSettled: true, previous, refused };
    const steps: readonly Step[] = [{ do: 'record', record }, { do: 'forget-configuration' }];
    await apply(steps, machine, systemd, material);
    return refusalWith(
      `${what} did not become ready: ${failed.because}. Back to ${was}, which is ready; nothing is lost.${kept}`,
    );
  }
  return refusalWith(
    `${what} did not become ready: ${failed.because}. Back to ${was}, which does not become ready either: ${again.because}.${kept} See: journalctl -u ${serviceName}`,
    [...failed.words, ...again.words],
  );
}
