/** A record of a pool file: both fields are filled up with zero bytes. */
const keyBytes = 512;
const valueBytes = 2048;

/**
 * The value of one key in a pool of the Hyper-V data exchange, as the guest's daemon writes it; null when it is not there.
 * https://learn.microsoft.com/windows-server/virtualization/hyper-v/manage/manage-hyper-v-integration-services
 * https://github.com/torvalds/linux/blob/master/include/uapi/linux/hyperv.h (HV_KVP_EXCHANGE_MAX_KEY_SIZE)
 */
export function valueInPool(pool: Buffer, key: string): string | null {
  for (let at = 0; at + keyBytes + valueBytes <= pool.length; at += keyBytes + valueBytes) {
    if (textAt(pool, at, keyBytes) !== key) continue;
    return textAt(pool, at + keyBytes, valueBytes).trim() || null;
  }
  return null;
}

function textAt(pool: Buffer, at: number, length: number): string {
  const field = pool.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}
