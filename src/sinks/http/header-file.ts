import { open } from 'node:fs/promises';
import { KnownFailure, retry } from '../../azure/failure.ts';

export interface Header {
  readonly name: string;
  readonly value: string;
}

const longestBytes = 16 * 1024;
/** Set by the sink, or by HTTP itself. */
const reserved = /^(host|content-.*|transfer-encoding|connection|expect|upgrade|te|trailer)$/i;

/** Reads one header, `Name: value`. Rejects with a `KnownFailure` that quotes nothing of the file. */
export async function readHeaderFile(path: string): Promise<Header> {
  const text = await readStart(path).catch((error: NodeJS.ErrnoException) => {
    throw failure(
      'header-unreadable',
      `sinks.http.headerFile cannot be read (${path}, ${error.code ?? 'unknown'}): check that it is there and that the account of the service may read it.`,
    );
  });
  if (text === null) {
    throw failure(
      'header-exposed',
      `sinks.http.headerFile is a secret, and others can read ${path}: expected a file that they cannot read (chmod o-rwx ${path}).`,
    );
  }
  // https://www.rfc-editor.org/rfc/rfc9110#name-field-names and #name-field-values
  const [, name = '', value = ''] =
    /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)\s*$/.exec(text) ?? [];
  if (name === '' || reserved.test(name) || text.length >= longestBytes) {
    throw failure(
      'header-malformed',
      `sinks.http.headerFile (${path}) is no header: check that it has one line, "Name: value", as "Authorization: Bearer …" or "aeg-sas-key: …".`,
    );
  }
  return { name, value };
}

/** On POSIX null where others can read it too; on Windows only `check` looks at access rights. */
async function readStart(path: string): Promise<string | null> {
  const file = await open(path, 'r');
  try {
    if (process.platform !== 'win32' && ((await file.stat()).mode & 0o004) !== 0) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(longestBytes), 0, longestBytes, 0);
    return buffer.toString('utf8', 0, bytesRead).replace(/^\uFEFF/, '');
  } finally {
    await file.close();
  }
}

const failure = (code: 'header-unreadable' | 'header-exposed' | 'header-malformed', reason: string): KnownFailure =>
  new KnownFailure(retry('configuration', code, reason));
