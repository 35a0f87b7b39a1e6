import { basename } from 'node:path';
import type { InstallationRecord, Running } from './plan.ts';
import { contentOf } from './read-file.ts';

/** Null also where it is damaged: then everything counts as not started yet. */
export function readInstallationRecord({ record }: { readonly record: string }): InstallationRecord | null {
  const content = contentOf(record);
  if (content === null) return null;
  try {
    const record = JSON.parse(content.toString('utf8')) as Partial<InstallationRecord> | null;
    if (!isRunning(record?.ready)) return null;
    const previous = typeof record.previous === 'string' ? record.previous : null;
    const { version, because } = record.refused ?? {};
    const refused = typeof version === 'string' && typeof because === 'string' ? { version, because } : null;
    return { ready: record.ready, isSettled: record.isSettled === true, previous, refused };
  } catch {
    return null;
  }
}

function isRunning(record: Partial<Running> | undefined): record is Running {
  const { folder, unit, configuration } = record ?? {};
  return [folder, unit, configuration].every((text) => typeof text === 'string') && basename(folder ?? '') === folder;
}
