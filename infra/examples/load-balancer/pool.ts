import { setTimeout as pause } from 'node:timers/promises';
import type { StateStore, VmId } from '../../../src/consumer/index.ts';
import { type ResourceManager, ResourceManagerError } from './resource-manager.ts';

/** https://learn.microsoft.com/rest/api/load-balancer/load-balancer-backend-address-pools/create-or-update */
const apiVersion = '2024-05-01';

// assumption: load-balancer-etag
/** What is used of a backend address pool; everything else is written back as it was read. */
interface BackendAddressPool {
  readonly etag: string;
  readonly properties: { readonly loadBalancerBackendAddresses?: readonly BackendAddress[] };
}
interface BackendAddress {
  readonly name: string;
  readonly properties: { readonly adminState?: AdminState };
}

/** https://learn.microsoft.com/azure/load-balancer/admin-state-overview */
type AdminState = 'None' | 'Up' | 'Down';

export interface PoolOptions {
  /** Resource id: `/subscriptions/…/loadBalancers/…/backendAddressPools/…`. */
  readonly id: string;
  /** VMs that always stay in service. 1: never the last one; 0: all may be taken out. */
  readonly minInService: number;
  /** Where it notes which VMs it took out. */
  readonly store: StateStore;
  readonly log: (line: string) => void;
}

/** By the key of a VM that this program took out, the admin state before. */
type Taken = Record<string, AdminState>;

interface Change {
  readonly vm: VmId;
  /** The new admin state, or null where it is right already. @throws why it cannot be changed now. */
  readonly choose: (address: BackendAddress, all: readonly BackendAddress[]) => AdminState | null;
  readonly done: PromiseWithResolvers<void>;
}

/**
 * Takes VMs out of a pool and returns them, by the admin state of their addresses: the load balancer opens no new connections to an
 * address that is `Down`, and established TCP connections stay. An address belongs to the VM of the same name.
 */
export class Pool {
  readonly #arm: ResourceManager;
  readonly #options: PoolOptions;
  readonly #taken: Taken;
  /** Changes that are made together, when the one in progress has ended: an event may affect a hundred VMs. */
  #waiting: Change[] = [];
  #isWorking = false;
  #saving: Promise<void> = Promise.resolve();

  /** @throws if the state cannot be read. */
  static async open(arm: ResourceManager, options: PoolOptions): Promise<Pool> {
    return new Pool(arm, options, JSON.parse((await options.store.load()) ?? '{}'));
  }

  private constructor(arm: ResourceManager, options: PoolOptions, taken: Taken) {
    this.#arm = arm;
    this.#options = options;
    this.#taken = taken;
  }

  /** Idempotent. @throws if too few VMs would stay in service: call it again later. */
  async takeOut(vm: VmId): Promise<void> {
    await this.#change(vm, (address, all) => {
      const before = address.properties.adminState ?? 'None';
      if (before === 'Down') {
        if (!(vm.key in this.#taken)) this.#options.log(`${vm.name} was taken out by someone else, and stays out`);
        return null;
      }
      const left = all.filter((one) => one !== address && one.properties.adminState !== 'Down').length;
      if (left < this.#options.minInService)
        throw new Error(
          `${vm.name} stays in the pool: ${left} VMs would be left, and MIN_IN_SERVICE is ${this.#options.minInService}`,
        );
      this.#taken[vm.key] = before;
      return 'Down';
    });
  }

  /** Idempotent. Returns a VM only if this program took it out. */
  async putBack(vm: VmId): Promise<void> {
    const before = this.#taken[vm.key];
    if (before === undefined) return;
    await this.#change(vm, ({ properties }) => (properties.adminState === 'Down' ? before : null));
    delete this.#taken[vm.key];
    await this.#save();
  }

  async #change(vm: VmId, choose: Change['choose']): Promise<void> {
    if (!this.#isInGroup(vm)) return;
    const done = Promise.withResolvers<void>();
    this.#waiting.push({ vm, choose, done });
    if (!this.#isWorking) void this.#work();
    await done.promise;
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    while (this.#waiting.length > 0) {
      const changes = this.#waiting.splice(0);
      try {
        const refused = await this.#apply(changes);
        for (const change of changes)
          if (refused.has(change)) change.done.reject(refused.get(change));
          else change.done.resolve();
      } catch (error) {
        for (const { done } of changes) done.reject(error);
      }
    }
    this.#isWorking = false;
  }

  /** @returns the changes that cannot be made now, and why. @throws if the pool cannot be changed. */
  async #apply(changes: readonly Change[]): Promise<ReadonlyMap<Change, unknown>> {
    const deadline = Date.now() + 120_000;
    for (;;) {
      const pool = await this.#arm.get<BackendAddressPool>(this.#options.id, apiVersion);
      const found = pool.properties.loadBalancerBackendAddresses ?? [];
      const noted = new Set(Object.keys(this.#taken));
      const refused = new Map<Change, unknown>();
      const lines: string[] = [];
      let addresses = found;
      for (const change of changes) {
        const address = addresses.find(({ name }) => name.toLowerCase() === change.vm.name.toLowerCase());
        try {
          const adminState = address === undefined ? null : change.choose(address, addresses);
          if (adminState === null) continue;
          const changed = { ...address, properties: { ...address?.properties, adminState } } as BackendAddress;
          addresses = addresses.map((one) => (one === address ? changed : one));
          lines.push(`${change.vm.name}: admin state ${adminState}`);
        } catch (error) {
          refused.set(change, error);
        }
      }
      if (addresses === found) return refused;
      // Before the change, so that it is known after a crash who made it.
      await this.#save();
      try {
        const properties = { ...pool.properties, loadBalancerBackendAddresses: addresses };
        await this.#arm.replace(this.#options.id, apiVersion, pool.etag, { ...pool, properties });
        for (const line of lines) this.#options.log(line);
        return refused;
      } catch (error) {
        // Someone else has changed the pool, or is changing it: what was taken out meanwhile was not taken out here.
        const isRejected = error instanceof ResourceManagerError && [409, 412, 429].includes(error.status);
        if (!isRejected) throw error;
        for (const key of Object.keys(this.#taken)) if (!noted.has(key)) delete this.#taken[key];
        await this.#save();
        if (Date.now() > deadline) throw error;
        await pause(1000 * (error.status === 412 ? 0 : (error.retryAfterSeconds ?? 5)));
      }
    }
  }

  /** Names are unique only within a resource group: the VMs have to be in that of the pool. */
  #isInGroup({ key }: VmId): boolean {
    const [, subscription, group] =
      /^\/subscriptions\/([^/]+)\/resourceGroups\/([^/]+)\//i.exec(this.#options.id) ?? [];
    return key.startsWith(`${subscription}/${group}/`.toLowerCase());
  }

  /** One after the other. */
  #save(): Promise<void> {
    const saved = this.#saving.then(() => this.#options.store.save(JSON.stringify(this.#taken)));
    this.#saving = saved.catch(() => {});
    return saved;
  }
}
