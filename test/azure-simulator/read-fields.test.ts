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

const cases: readonly { value: unknown; message: string }[] = [
  {
    value: undefined,
    message: 'the body is missing; expected an object of name, note, tags, on, zone, set, misses, seconds',
  },
  { value: [], message: 'the body is []; expected an object of name,' },
  { value: { nmae: 'x' }, message: 'the body has an unknown field "nmae"; known are name, note' },
  { value: JSON.parse('{"__proto__": 1}'), message: 'the body has an unknown field "__proto__"' },
  { value: { name: '' }, message: 'name of the body is ""; expected text that is not empty' },
  { value: { note: 5 }, message: 'note of the body is 5; expected text' },
  { value: { tags: { a: 1 } }, message: 'tags of the body is {"a":1}; expected an object of texts' },
  { value: { on: 'yes' }, message: 'on of the body is "yes"; expected true or false' },
  { value: { zone: '3' }, message: 'zone of the body is "3"; expected one of 1, 2' },
  { value: { set: '' }, message: 'set of the body is ""; expected text that is not empty, or null' },
  {
    value: { misses: [1, 1.5] },
    message: 'misses of the body is [1,1.5]; expected a list, each of it a whole number from 1 to 9',
  },
  { value: { seconds: 61 }, message: 'seconds of the body is 61; expected a number of seconds from -1 to 60' },
  { value: { name: ['x'.repeat(200)] }, message: `name of the body is ["${'x'.repeat(78)}…; expected` },
];

test.for(cases)('$message', ({ value, message }) => {
  expect(() => readFields('the body', value, kinds)).toThrow(InvalidInput);
  expect(() => readFields('the body', value, kinds)).toThrow(message);
});
