import type { FaultTest } from './fault-test.ts';
import { badDisk } from './tests/bad-disk.ts';
import { blackHoles } from './tests/black-holes.ts';
import { certificates } from './tests/certificates.ts';
import { clockJumps } from './tests/clock-jumps.ts';
import { combinations } from './tests/combinations.ts';
import { damagedFiles } from './tests/damaged-files.ts';
import { denied } from './tests/denied.ts';
import { duplicateBudget } from './tests/duplicate-budget.ts';
import { faultPoints } from './tests/fault-points.ts';
import { fileCallFaults } from './tests/file-calls.ts';
import { flushBeforeSend } from './tests/flush-before-send.ts';
import { fuzz } from './tests/fuzz.ts';
import { hostileAnswers } from './tests/hostile-answers.ts';
import { hubRefusals } from './tests/hub-refusals.ts';
import { idleDay } from './tests/idle-day.ts';
import { largeStart } from './tests/large-start.ts';
import { loneEvent } from './tests/lone-event.ts';
import { modelSequences } from './tests/model-sequences.ts';
import { powerCut } from './tests/power-cut.ts';
import { quotaAndFlush } from './tests/quota-and-flush.ts';
import { randomKills } from './tests/random-kills.ts';
import { refusedRecords } from './tests/refused-records.ts';
import { secondInstance } from './tests/second-instance.ts';
import { sinkOutage } from './tests/sink-outage.ts';
import { termination } from './tests/termination.ts';
import { throttling } from './tests/throttling.ts';
import { tokens } from './tests/tokens.ts';
import { upgrades } from './tests/upgrade.ts';

/** Every fault test, in the order of the table. */
export const faultTests: readonly FaultTest[] = [
  randomKills,
  fileCallFaults,
  powerCut,
  flushBeforeSend,
  damagedFiles,
  faultPoints,
  duplicateBudget,
  loneEvent,
  termination,
  upgrades,
  badDisk,
  quotaAndFlush,
  refusedRecords,
  largeStart,
  clockJumps,
  sinkOutage,
  secondInstance,
  blackHoles,
  tokens,
  certificates,
  hostileAnswers,
  modelSequences,
  combinations,
  fuzz,
  idleDay,
  throttling,
  hubRefusals,
  denied,
];
