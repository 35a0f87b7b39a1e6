import { describe, expect, test } from 'vitest';
import { startIndex } from '../../../src/azure-simulator/event-hubs/position.ts';
import { createStoredEvent } from '../../../src/azure-simulator/event-hubs/stored-event.ts';

const events = [0, 1, 2, 3].map((sequenceNumber) =>
  createStoredEvent(Buffer.alloc(0), {
    partition: 0,
    sequenceNumber,
    offset: String(sequenceNumber * 100),
    enqueuedAt: new Date(1_000 * sequenceNumber),
    partitionKey: null,
  }),
);

describe('the start position of a consumer', () => {
  test.each([
    ["amqp.annotation.x-opt-offset > '-1'", 0],
    ["amqp.annotation.x-opt-offset > '@latest'", 4],
    ["amqp.annotation.x-opt-offset > '100'", 2],
    ["amqp.annotation.x-opt-offset >= '100'", 1],
    ["amqp.annotation.x-opt-sequence-number > '1'", 2],
    ["amqp.annotation.x-opt-sequence-number >= '1'", 1],
    ["amqp.annotation.x-opt-sequence-number > '9'", 4],
    ["amqp.annotation.x-opt-enqueued-time > '1999'", 2],
    ['amqp.annotation.x-opt-sequence-number >= 3', 3],
    ['', 0],
    ["amqp.annotation.x-opt-offset > 'nonsense'", null],
    ["colour = 'red'", null],
  ])('%j starts at %s', (selector, index) => {
    expect(startIndex(selector, events)).toBe(index);
  });
});
