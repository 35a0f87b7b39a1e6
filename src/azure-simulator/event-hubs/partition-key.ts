/**
 * The partition of a partition key, by the service's own hash: Jenkins' lookup3 over the UTF-8 bytes, its two words
 * folded into a signed 16-bit number. http://burtleburtle.net/bob/c/lookup3.c
 */
export function partitionOfKey(partitionKey: string, partitions: number): number {
  const { b, c } = lookup3(Buffer.from(partitionKey, 'utf8'));
  const folded = ((b ^ c) << 16) >> 16;
  return Math.abs(folded % partitions);
}

interface Words {
  a: number;
  b: number;
  c: number;
}

function lookup3(key: Buffer): Words {
  const start = (0xdeadbeef + key.length) | 0;
  const words: Words = { a: start, b: start, c: start };
  let at = 0;
  for (; key.length - at > 12; at += 12) {
    add(words, key.subarray(at, at + 12));
    mix(words);
  }
  if (key.length === at) return words;
  add(words, Buffer.concat([key.subarray(at)], 12));
  finish(words);
  return words;
}

function add(words: Words, block: Buffer): void {
  words.a = (words.a + block.readInt32LE(0)) | 0;
  words.b = (words.b + block.readInt32LE(4)) | 0;
  words.c = (words.c + block.readInt32LE(8)) | 0;
}

function mix(w: Words): void {
  w.a = ((w.a - w.c) | 0) ^ rotate(w.c, 4);
  w.c = (w.c + w.b) | 0;
  w.b = ((w.b - w.a) | 0) ^ rotate(w.a, 6);
  w.a = (w.a + w.c) | 0;
  w.c = ((w.c - w.b) | 0) ^ rotate(w.b, 8);
  w.b = (w.b + w.a) | 0;
  w.a = ((w.a - w.c) | 0) ^ rotate(w.c, 16);
  w.c = (w.c + w.b) | 0;
  w.b = ((w.b - w.a) | 0) ^ rotate(w.a, 19);
  w.a = (w.a + w.c) | 0;
  w.c = ((w.c - w.b) | 0) ^ rotate(w.b, 4);
  w.b = (w.b + w.a) | 0;
}

function finish(w: Words): void {
  w.c = ((w.c ^ w.b) - rotate(w.b, 14)) | 0;
  w.a = ((w.a ^ w.c) - rotate(w.c, 11)) | 0;
  w.b = ((w.b ^ w.a) - rotate(w.a, 25)) | 0;
  w.c = ((w.c ^ w.b) - rotate(w.b, 16)) | 0;
  w.a = ((w.a ^ w.c) - rotate(w.c, 4)) | 0;
  w.b = ((w.b ^ w.a) - rotate(w.a, 14)) | 0;
  w.c = ((w.c ^ w.b) - rotate(w.b, 24)) | 0;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
