import { describe, expect, test } from 'vitest';
import { type Log, silentLog } from '../../src/log.ts';
import { noProgress } from '../../src/outbox/outbox.ts';
import { createStatusLog } from '../../src/relay/status-log.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function listening() {
  const lines: string[] = [];
  const fields: object[] = [];
  const say = (each: object, message: string): void => {
    fields.push(each);
    lines.push(message);
  };
  const log: Log = { ...silentLog, info: say, warn: say };
  const clock = createFakeClock();
  return { lines, fields, clock, statusLog: createStatusLog(log, clock, 'eventHubs') };
}

const failing = (code: string) => ({
  ...noProgress,
  step: 1,
  lastErrorCode: code,
  lastErrorReason: `because of ${code}`,
});
const nothingWaits = (): number => 0;

describe('the log of a sink', () => {
  test('has one line when it starts to fail, one when it recovers', async () => {
    const { lines, clock, statusLog } = listening();
    statusLog.status(null, 0, nothingWaits);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      statusLog.status({ ...failing('http-503'), step: attempt }, 0, nothingWaits);
      await clock.advance(10_000);
    }
    statusLog.status(null, 1, nothingWaits);
    statusLog.status(null, 1, nothingWaits);
    expect(lines).toEqual(['eventHubs is failing: because of http-503', 'eventHubs recovered after 50 s.']);
  });

  test('has the recovery only after a delivery', async () => {
    const { lines, clock, statusLog } = listening();
    statusLog.status(failing('invalid-field'), 7, nothingWaits);
    await clock.advance(10_000);
    statusLog.status(null, 7, nothingWaits);
    expect(lines.slice(1)).toEqual(['No records wait for eventHubs any more; it took none since it began to fail.']);
  });

  test('has a line every ten minutes of a failure, with the number of pending records', async () => {
    const { lines, clock, statusLog } = listening();
    for (let minute = 0; minute < 25; minute += 1) {
      statusLog.status(failing('http-503'), 0, () => 42);
      await clock.advance(60_000);
    }
    expect(lines).toEqual([
      'eventHubs is failing: because of http-503',
      'eventHubs has been failing for 10 min; 42 records wait for it: because of http-503',
      'eventHubs has been failing for 20 min; 42 records wait for it: because of http-503',
    ]);
  });

  test('with a lasting failure soon after a recovery is correct within a minute', async () => {
    const { lines, clock, statusLog } = listening();
    statusLog.status(failing('http-503'), 0, nothingWaits);
    await clock.advance(3000);
    statusLog.status(null, 1, nothingWaits);
    for (let second = 0; second < 70; second += 1) {
      await clock.advance(1000);
      statusLog.status(failing('http-503'), 0, nothingWaits);
    }
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)).toContain('is failing');
  });

  test('has another line when the reason changes', () => {
    const { lines, statusLog } = listening();
    for (const code of ['http-503', 'http-503', 'http-403', 'http-403'])
      statusLog.status(failing(code), 0, nothingWaits);
    expect(lines).toEqual(['eventHubs is failing: because of http-503', 'eventHubs is failing: because of http-403']);
  });

  test('has one line a minute for a sink that recovers every second', async () => {
    const { lines, clock, statusLog } = listening();
    for (let second = 0; second < 59; second += 1) {
      statusLog.status(second % 2 === 0 ? failing('http-503') : null, 0, nothingWaits);
      await clock.advance(1_000);
    }
    expect(lines).toHaveLength(2);
  });

  test('has no recovery when the second failure ends without a delivery since it began', async () => {
    const { lines, clock, statusLog } = listening();
    statusLog.status(failing('http-503'), 0, nothingWaits);
    statusLog.status(null, 1, nothingWaits);
    await clock.advance(120_000);
    statusLog.status(failing('http-503'), 1, nothingWaits);
    statusLog.status(null, 1, nothingWaits);
    expect(lines.slice(-2)).toEqual([
      'eventHubs is failing: because of http-503',
      'No records wait for eventHubs any more; it took none since it began to fail.',
    ]);
  });

  test('has each dead letter with its reason', () => {
    const { lines, fields, statusLog } = listening();
    statusLog.deadLetter(7, 'http-400', 'the row does not fit the table');
    expect(lines).toEqual([
      'eventHubs refuses a record, which becomes a dead letter; the other records go on: the row does not fit the table',
    ]);
    expect(fields).toEqual([{ sink: 'eventHubs', position: 7, code: 'http-400', leftOut: 0 }]);
  });
});
