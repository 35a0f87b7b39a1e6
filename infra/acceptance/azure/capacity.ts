import { AzError } from '../az.ts';
import type { StepContext } from '../step.ts';
import type { Machine } from '../target.ts';
import { DeploymentError, isNotFound } from './deployment.ts';
import { sizesOf } from './prepare.ts';

/**
 * The last one is of flexible scale sets, which do not take every size: https://github.com/MicrosoftDocs/azure-docs/issues/102050
 * https://learn.microsoft.com/azure/virtual-machines/allocation-failure https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-sku-not-available
 */
const capacityCodes =
  /SkuNotAvailable|AllocationFailed|OverconstrainedAllocationRequest|OverconstrainedZonalAllocationRequest|QuotaExceeded|not available in (the current )?(location|region)|exceeding approved .* quota|cannot use VM size/i;

/** Whether Azure has no room for a VM of this size, so that another size may work. */
export function isOutOfCapacity(error: unknown): boolean {
  if (error instanceof DeploymentError) {
    return error.failures.some(({ code, message }) => capacityCodes.test(`${code} ${message}`));
  }
  return error instanceof AzError && capacityCodes.test(`${error.code} ${error.message}`);
}

/**
 * Tries one size after the other until Azure has room.
 *
 * @param discard deletes what an attempt left behind
 */
export async function withAvailableSize<T>(
  context: StepContext,
  role: Machine['role'],
  attempt: (size: string) => Promise<T>,
  discard: () => Promise<unknown>,
): Promise<T> {
  const sizes = sizesOf(context, role);
  for (const [index, size] of sizes.entries()) {
    try {
      return await attempt(size);
    } catch (error) {
      if (!isOutOfCapacity(error) || index === sizes.length - 1) throw error;
      context.say(`Azure has no room for ${size}; trying ${sizes[index + 1]}`);
      await discard().catch((missing: unknown) => {
        // Azure had refused the request before there was anything to delete.
        if (!isNotFound(missing)) throw missing;
      });
    }
  }
  throw new Error(`No size is available for ${role}.`);
}
