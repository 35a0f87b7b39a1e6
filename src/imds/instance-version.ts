/** Has every field of the observer in a record. */
export const newestInstanceVersion = '2023-11-15';

/**
 * The versions of `/metadata/instance` that hold what makes an observer, newest first. Older ones do not know the name of
 * the resource or its id. https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#supported-api-versions
 */
const knownVersions = [
  newestInstanceVersion,
  '2023-07-01',
  '2021-12-13',
  '2021-11-15',
  '2021-11-01',
  '2021-10-01',
  '2021-05-01',
  '2021-03-01',
  '2021-02-01',
];

// assumption: imds-instance-old-host
/**
 * A host that does not know a version answers 400 and lists those that it does know (`newest-versions`). Which of them to
 * ask for instead; null when the body lists none that is known here.
 */
export function versionToTryAfter(body: string): string | null {
  const listed: readonly string[] = body.match(/\b\d{4}-\d{2}-\d{2}\b/g) ?? [];
  return knownVersions.find((version) => version !== newestInstanceVersion && listed.includes(version)) ?? null;
}
