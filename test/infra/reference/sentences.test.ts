import { expect, test } from 'vitest';
import { callsOf, sentenceOf } from '../../../infra/reference/sentences.ts';

const lines = (text: string): string[] =>
  callsOf(new Map([['src/x.ts', text]]), /\blog\.(info|warn)/).map(
    ({ name, args }) => `${name}: ${sentenceOf(args[1] ?? '')}`,
  );

/** As a template literal of a source: `§` becomes the `$` of a placeholder. */
const template = (text: string): string => text.replaceAll('§', '$');

const cases = [
  { name: 'a plain sentence', text: `log.info({ a }, 'It runs.');`, message: ['info: It runs.'] },
  {
    name: 'holes are named for what fills them',
    text: template(
      'log.warn({ a: f(1, 2) }, `In §{directory} §{records.length} §{isOne ? "wait" : "waits"}, §{sink.name}.`);',
    ),
    message: ['warn: In ‹directory› ‹records› ‹is one›, ‹sink›.'],
  },
  {
    name: 'a hole in a hole and a bracket in a text',
    text: template('log.info({}, `A §{b ? `(§{c})` : ""} end (really).`);'),
    message: ['info: A ‹b› end (really).'],
  },
  {
    name: 'an expression of another module',
    text: 'log.warn({}, describeFailure(reason));',
    message: ['warn: ‹describe failure›'],
  },
  {
    name: 'a comment with an apostrophe between the arguments',
    text: `log.info(\n  // it's ours\n  { a },\n  'Said.',\n);`,
    message: ['info: Said.'],
  },
  {
    name: 'two on one line',
    text: `f(() => log.info({}, 'One.'), log.warn({}, 'Two.'));`,
    message: ['info: One.', 'warn: Two.'],
  },
];

test.for(cases)('a line of the log is found in the source: $name', ({ text, message }) => {
  expect(lines(text)).toEqual(message);
});
