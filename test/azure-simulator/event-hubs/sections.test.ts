import rhea from 'rhea';
import { describe, expect, test } from 'vitest';
import {
  annotationsSection,
  binaryOf,
  sectionCodes,
  splitSections,
} from '../../../src/azure-simulator/event-hubs/sections.ts';

const message = rhea.message.encode({
  message_annotations: { key: 'value' },
  message_id: 'id',
  application_properties: {
    text: 'x'.repeat(300),
    number: 7,
    long: rhea.types.wrap_long(2 ** 40),
    yes: true,
    none: null,
  },
  body: rhea.message.data_section(Buffer.alloc(400, 1)),
});

describe('the sections of an AMQP message', () => {
  test('are found in order and without a gap', () => {
    const sections = splitSections(message);
    expect(sections.map(({ code }) => code)).toEqual([0x70, 0x72, 0x73, 0x74, 0x75]);
    expect(Buffer.concat(sections.map(({ bytes }) => bytes))).toEqual(message);
    expect(binaryOf(sections[4] ?? never())).toEqual(Buffer.alloc(400, 1));
  });

  test('of annotations can be encoded alone and decoded again', () => {
    const bytes = annotationsSection('message_annotations', { 'x-opt-offset': '7' });
    expect(splitSections(bytes).map(({ code }) => code)).toEqual([sectionCodes.messageAnnotations]);
    expect(rhea.message.decode(bytes)).toMatchObject({ message_annotations: { 'x-opt-offset': '7' } });
  });

  test.each([
    ['no section at all', Buffer.from('hello')],
    ['a section that stops in the middle', message.subarray(0, 2)],
    ['an unknown type', Buffer.from([0x00, 0x53, 0x75, 0x10])],
    ['a symbolic descriptor', Buffer.from([0x00, 0xa3, 0x01, 0x41, 0x40])],
  ])('are not found in %s', (_, bytes) => {
    expect(() => splitSections(bytes)).toThrow();
  });
});

function never(): never {
  throw new Error('there is no such section');
}
