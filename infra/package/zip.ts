import { promisify } from 'node:util';
import { crc32, deflateRaw } from 'node:zlib';
import { byPath, type PackedFile } from './packed-file.ts';
import { gzipOf } from './tar.ts';

const deflated = promisify(deflateRaw);

/** 2.0, by Unix: attributes are those of Unix. */
const madeBy = 0x0314;
const neededVersion = 20;
/** Names are UTF-8. */
const flags = 0x0800;
const deflate = 8;

/**
 * A zip archive of `files`, sorted, changed at `at` in UTC, to the 2 s that the format knows. The same files make the same bytes.
 * `top` is put before every path. `level`: of zlib, for tests; without it the files are as small as gzip makes them.
 * https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3
 */
export async function zip(
  files: readonly PackedFile[],
  { top, at, level }: { readonly top: string; readonly at: Date; readonly level?: number },
): Promise<Buffer> {
  const stamp = dosTime(at);
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { path, mode, content } of files.toSorted(byPath)) {
    const packed = await (level === undefined ? deflatedByGzip(content) : deflated(content, { level }));
    const name = Buffer.from(`${top}${path}`);
    const facts = Buffer.concat([
      numbers(2, neededVersion, flags, deflate, stamp.time, stamp.date),
      numbers(4, crc32(content), packed.length, content.length),
      numbers(2, name.length, 0),
    ]);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), facts, name, packed]);
    const attributes = (0o100000 | mode) * 0x10000;
    directory.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02'),
        numbers(2, madeBy),
        facts,
        numbers(2, 0, 0, 0),
        numbers(4, attributes, offset),
        name,
      ]),
    );
    locals.push(local);
    offset += local.length;
  }
  const size = directory.reduce((sum, entry) => sum + entry.length, 0);
  const end = Buffer.concat([
    Buffer.from('PK\x05\x06'),
    numbers(2, 0, 0, files.length, files.length),
    numbers(4, size, offset),
    numbers(2, 0),
  ]);
  return Buffer.concat([...locals, ...directory, end]);
}

/** What gzip makes is a header of ten bytes, as long as it holds no name, the deflated data, and eight more: RFC 1952, 2.3. */
const deflatedByGzip = async (content: Buffer): Promise<Buffer> => (await gzipOf(content)).subarray(10, -8);

/** Little-endian, each of this many bytes. @throws RangeError when one does not fit. */
function numbers(bytes: 2 | 4, ...values: readonly number[]): Buffer {
  const buffer = Buffer.alloc(bytes * values.length);
  for (const [n, value] of values.entries()) buffer.writeUIntLE(value, n * bytes, bytes);
  return buffer;
}

function dosTime(at: Date): { readonly date: number; readonly time: number } {
  return {
    date: ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
  };
}
