/** A pool file of the Hyper-V data exchange, as the guest's daemon writes it. */
export function poolOf(pairs: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(pairs).map(([key, value]) => {
      const record = Buffer.alloc(512 + 2048);
      record.write(key, 0, 512);
      record.write(value, 512, 2048);
      return record;
    }),
  );
}
