import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Assumption } from './assumptions.ts';
import type { Entry } from './journal.ts';
import { createTextMask, type TextMask } from './recordings/mask-text.ts';
import { namesIn } from './recordings/names.ts';
import { type Report, reportOf } from './report.ts';
import { reportText } from './report-text.ts';

export const reportFiles = { markdown: 'acceptance.md', json: 'acceptance.json' } as const;

/** Writes both files of the report into the folder of the run, without ids, addresses and names of the subscription. */
export function writeReport(folder: string, entries: readonly Entry[], assumptions: readonly Assumption[]): Report {
  const report = reportOf(entries, assumptions);
  // One mask for both: equal ids get equal pseudonyms. What the run created has no names but its own.
  const ids = [...report.steps.map(({ id }) => id), ...assumptions.map(({ id }) => id)];
  const masked = maskedReport(report, exceptIds(ids, createTextMask(namesIn(...entries.flatMap(loginIn)))));
  replaceFile(join(folder, reportFiles.markdown), reportText(masked));
  replaceFile(
    join(folder, reportFiles.json),
    `${JSON.stringify({ format: 'scheduled-events-bridge acceptance', version: 1, ...masked }, null, 2)}\n`,
  );
  return report;
}

/** Masks what Azure has answered. The texts of this project stay: a subscription may be named like a word in them. */
function maskedReport(report: Report, mask: TextMask): Report {
  return {
    ...report,
    run: { ...report.run, subscription: mask(report.run.subscription) },
    assumptions: report.assumptions.map((one) => ({
      ...one,
      reason: one.isManual || one.reason === null ? one.reason : mask(one.reason),
      findings: one.findings.map((finding) => ({ ...finding, evidence: mask(finding.evidence) })),
    })),
    steps: report.steps.map((step) => ({
      ...step,
      outcome:
        step.outcome?.result === 'failed' ? { ...step.outcome, message: mask(step.outcome.message) } : step.outcome,
    })),
    durations: report.durations.map((one) => ({
      ...one,
      each: one.each.map((each) => ({ ...each, detail: mask(each.detail) })),
    })),
    differences: report.differences.map(({ detail, ...one }) => ({
      ...one,
      what: mask(one.what),
      ...(detail && { detail: { ...detail, subject: mask(detail.subject), azure: mask(detail.azure) } }),
    })),
    cleanUp: {
      ...report.cleanUp,
      left: report.cleanUp.left.map(({ what, why, command }) => ({
        what: mask(what),
        why: mask(why),
        command: command && mask(command),
      })),
    },
  };
}

/** Leaves ids of several words as they are: a subscription may be named like a part of one, as `Test` is in `read-test-record`. */
export function exceptIds(ids: readonly string[], mask: TextMask): TextMask {
  const own = ids.filter((id) => id.includes('-')).toSorted((one, other) => other.length - one.length);
  if (own.length === 0) return mask;
  const pattern = new RegExp(`((?<![\\w-])(?:${own.map(RegExp.escape).join('|')})(?![\\w-]))`);
  // Every second part is an id.
  return (text) =>
    text
      .split(pattern)
      .map((part, index) => (index % 2 === 0 ? mask(part) : part))
      .join('');
}

/** Who is logged in, and to what. */
const loginIn = (entry: Entry): readonly unknown[] =>
  entry.event === 'found' && entry.step === 'login' ? [entry.value] : [];

/** A crash leaves the whole old file or the whole new one. */
function replaceFile(file: string, text: string): void {
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
