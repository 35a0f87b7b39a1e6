import { expect, test } from 'vitest';
import {
  InvalidInput,
  listOf,
  name,
  number,
  oneOf,
  orNull,
  readFields,
  text,
  texts,
  trueOrFalse,
  wholeNumber,
} from '../../src/azure-simulator/read-fields.ts';

const kinds = {
  name,
  note: text,
  tags: texts,
  on: trueOrFalse,
  zone: oneOf('1', '2'),
  set: orNull(name),
  misses: listOf(wholeNumber(1, 9)),
  seconds: number('a number of seconds', -1, 60),
};

test('fields that fit are read as they are', () => {
  const value = {
    name: 'web_0',
    note: '',
    tags: { a: '' },
    on: false,
    zone: '2',
    set: null,
    misses: [1],
    seconds: -0.5,
  };
  expect(readFields('the body', value, kinds)).toEqual(value);
  expect(readFields('the body', {}, kinds)).toEqual({});
});

const cases: readonly { value: unknown; says: string }[] = [
  {
    value: undefined,
    says: 'the body is missing; expected an object of name, note, tags, on, zone, set, misses, seconds',
  },
  { value: [], says: 'the body is []; expected an object of name,' },
  { value: { nmae: 'x' }, says: 'the body has an unknown field "nmae"; known are name, note' },
  { value: JSON.parse('{"__proto__": 1}'), says: 'the body has an unknown field "__proto__"' },
  { value: { name: '' }, says: 'name of the body is ""; expected text that is not empty' },
  { value: { note: 5 }, says: 'note of the body is 5; expected text' },
  { value: { tags: { a: 1 } }, says: 'tags of the body is {"a":1}; expected an object of texts' },
  { value: { on: 'yes' }, says: 'on of the body is "yes"; expected true or false' },
  { value: { zone: '3' }, says: 'zone of the body is "3"; expected one of 1, 2' },
  { value: { set: '' }, says: 'set of the body is ""; expected text that is not empty, or null' },
  {
    value: { misses: [1, 1.5] },
    says: 'misses of the body is [1,1.5]; expected a list, each of it a whole number from 1 to 9',
  },
  { value: { seconds: 61 }, says: 'seconds of the body is 61; expected a number of seconds from -1 to 60' },
  { value: { name: ['x'.repeat(200)] }, says: `name of the body is ["${'x'.repeat(78)}…; expected` },
];

test.for(cases)('$says', ({ value, says }) => {
  expect(() => readFields('the body', value, kinds)).toThrow(InvalidInput);
  expect(() => readFields('the body', value, kinds)).toThrow(says);
});
