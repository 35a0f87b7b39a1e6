import { assumptionsFile } from './assumptions.ts';
import { code, fileLink, table } from './markdown.ts';
import { dollars, duration } from './plan-text.ts';
import { differencesText } from './recordings/differences-text.ts';
import type { CleanUpState, Report, ReportedAssumption, ReportedStep, RunState } from './report.ts';
import type { StepOutcome } from './verdicts.ts';

/** `acceptance.md`: what a person reads first is at the top. */
export function reportText(report: Report): string {
  const { run, assumptions, steps, durations, differences, cleanUp } = report;
  const ofVerdict = (verdict: ReportedAssumption['verdict']): readonly ReportedAssumption[] =>
    assumptions.filter((one) => one.verdict === verdict);
  const missed = ofVerdict('not reached');
  const sections = [
    `# Acceptance run ${run.id}`,
    run.against === 'simulator'
      ? 'This run of scheduled-events-bridge was carried out against the simulator, and proves nothing about Azure.'
      : `Which assumptions of scheduled-events-bridge about Azure hold in a subscription. Each is a row of \`${assumptionsFile}\`; \`infra/acceptance.md\` explains this report.`,
    reportSummary(report),
    table(
      ['', ''],
      [
        ['place', run.against === 'simulator' ? 'the simulator' : `subscription ${run.subscription}, ${run.location}`],
        ['begun', run.begunAt],
        ['duration', duration(run.minutes)],
        ...(run.against === 'simulator'
          ? []
          : [['cost', `at most ${dollars(run.maxCostUsd)}, by the prices in the plan`] as const]),
        ...Object.entries(run.versions).map(([what, version]) => [what, version]),
      ],
    ),
    ...section('Refuted', refutedTable(ofVerdict('refuted'))),
    ...section('Proven', provenTable(ofVerdict('proven'))),
    ...section('Differences between Azure and the simulator', differencesText(differences)),
    ...section(
      'Durations, in seconds',
      table(
        ['what', 'count', 'min', 'median', 'max'],
        durations.map(({ what, count, minSeconds, medianSeconds, maxSeconds }) => [
          what,
          String(count),
          ...[minSeconds, medianSeconds, maxSeconds].map(rounded),
        ]),
      ),
    ),
    ...section(
      'Steps',
      table(
        ['step', 'what it does', 'outcome', 'duration'],
        steps.map((step) => [code(step.id), step.title, outcomeOf(step), durationOf(step)]),
      ),
    ),
    ...(run.against === 'simulator'
      ? []
      : [
          ...section('Not reached by this run', reasonsTable(missed.filter(({ isManual }) => !isManual))),
          ...section('What no run can prove', reasonsTable(missed.filter(({ isManual }) => isManual))),
        ]),
    ...(run.against === 'simulator' ? [] : ['## Left in the subscription', leftOf(cleanUp, run.id)]),
  ];
  return `${sections.join('\n\n')}\n`;
}

/** In one paragraph: how the run ended, what it proved, and what is left. */
export function reportSummary({ run, assumptions, steps, cleanUp }: Report): string {
  const count = (verdict: ReportedAssumption['verdict']): number =>
    assumptions.filter((one) => one.verdict === verdict).length;
  const byNone = assumptions.filter(({ verdict, isManual }) => verdict === 'not reached' && isManual).length;
  const succeeded = steps.filter(({ outcome }) => outcome?.result === 'succeeded').length;
  return [
    `${stateSentences[run.state]}: ${succeeded} of ${steps.length} steps succeeded.`,
    ...(run.against === 'simulator'
      ? []
      : [
          `Assumptions: ${count('proven')} proven, ${count('refuted')} refuted, ${count('not reached') - byNone} not reached, and ${byNone} that no run can prove.`,
          cleanUpSentence(cleanUp),
        ]),
  ].join(' ');
}

const stateSentences: Readonly<Record<RunState, string>> = {
  finished: 'The run finished',
  interrupted: 'The run was interrupted',
  'time limit': 'The run exceeded its time limit',
  error: 'The run was ended by an error',
  'not ended': 'The run has not ended',
};

function cleanUpSentence({ state, left }: CleanUpState): string {
  switch (state) {
    case 'nothing to remove':
      return '';
    case 'kept':
      return 'Everything is still in the subscription, as --keep asks, and costs money.';
    case 'not begun':
      return 'Nothing has been removed from the subscription yet.';
    case 'not ended':
      return 'Not everything has been removed from the subscription yet.';
    case 'done':
      return left.length === 0
        ? 'Nothing is left in the subscription.'
        : `${left.length} ${left.length === 1 ? 'thing is' : 'things are'} left in the subscription.`;
  }
}

function leftOf(cleanUp: CleanUpState, runId: string): string {
  const { state, left } = cleanUp;
  if (state !== 'done') {
    return `${cleanUpSentence(cleanUp)} To remove it: \`npm run acceptance -- --clean-up ${runId}\``;
  }
  if (left.length === 0) {
    return 'Nothing, by the lists of Azure. Registrations of resource providers and `NetworkWatcherRG` stay; they cost nothing.';
  }
  const commands = table(
    ['what', 'why', 'command'],
    left.map(({ what, why, command }) => [what, why, command === null ? 'none needed' : code(command)]),
  );
  return `${commands}\n\nThe ids in this file are not the real ones. \`npm run acceptance -- --clean-up ${runId}\` tries again, and prints each command with them.`;
}

/** What an operator has to know of each: the evidence, and what follows. */
const refutedTable = (assumptions: readonly ReportedAssumption[]): string =>
  table(
    ['assumption', 'evidence', 'file', 'what is no longer true', 'what to do'],
    assumptions.flatMap(({ assumption, claim, findings, breaks, otherwise }) =>
      findings.map(({ evidence, file }, at) =>
        at === 0
          ? [`${code(assumption)}: ${claim}`, evidence, fileLink(file), breaks, otherwise]
          : ['', evidence, fileLink(file), '', ''],
      ),
    ),
  );

/** A claim may have a part of which the evidence says nothing. */
const provenTable = (assumptions: readonly ReportedAssumption[]): string =>
  table(
    ['assumption', 'evidence', 'file', 'not seen by a run'],
    assumptions.flatMap(({ assumption, claim, unseen = '', findings }) =>
      findings.map(({ evidence, file }, at) =>
        at === 0
          ? [`${code(assumption)}: ${claim}`, evidence, fileLink(file), unseen]
          : ['', evidence, fileLink(file), ''],
      ),
    ),
  );

const reasonsTable = (assumptions: readonly ReportedAssumption[]): string =>
  table(
    ['assumption', 'why'],
    assumptions.map(({ assumption, claim, reason }) => [`${code(assumption)}: ${claim}`, reason ?? '']),
  );

function outcomeOf({ outcome }: ReportedStep): string {
  return outcome === null ? 'not ended' : describe(outcome);
}

function describe(outcome: StepOutcome): string {
  switch (outcome.result) {
    case 'failed':
      return `failed: ${outcome.message}`;
    case 'skipped':
      return `skipped: ${code(outcome.because)} did not succeed`;
    case 'not-selected':
      return 'not selected';
    default:
      return outcome.result;
  }
}

const durationOf = ({ seconds }: ReportedStep): string =>
  seconds === null ? '' : seconds < 120 ? `${rounded(seconds)} s` : duration(seconds / 60);

/** Three significant digits are more than such a measurement is worth. */
const rounded = (seconds: number): string =>
  seconds >= 100 ? seconds.toFixed(0) : String(Number(seconds.toPrecision(3)));

const section = (title: string, body: string): string[] => (body === '' ? [] : [`## ${title}`, body]);
