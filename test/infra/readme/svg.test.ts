import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toSvg } from '../../../infra/readme/svg.ts';
import { span } from '../../../src/terminal/styled-text.ts';
import { root } from '../../support/source-tree.ts';

const stills = [
  { rows: [[span('always')], [span('a  < b', 'quiet')]], ms: 250 },
  { rows: [[span('always')], [span(' ━━', 'started')]], ms: 750 },
];
const svg = toSvg(stills, { title: 'a terminal', columns: 20 });

test('frames follow one another, and the last one is shown without animation', () => {
  expect(svg).toContain('@keyframes s0{0.00%{visibility:visible}25.00%{visibility:hidden}}');
  expect(svg).toContain('@keyframes s1{0%{visibility:hidden}25.00%{visibility:visible}}');
  expect(svg).toContain('<g id="s0" class="still gone">');
  expect(svg).toContain('<g id="s1" class="still">');
});

test('unchanged parts are drawn once, and every word is in its column', () => {
  expect(svg.match(/>always</g)).toHaveLength(1);
  const texts = [...svg.matchAll(/<text class="(\w+)" x="([\d.]+)" y="\d+" textLength="([\d.]+)"([^>]*)>([^<]*)</g)];
  expect(texts.map(([, style, x, length, more, text]) => [style, x, length, more !== '', text])).toEqual([
    ['plain', '18.0', '46.8', false, 'always'],
    ['quiet', '18.0', '7.8', false, 'a'],
    ['quiet', '41.4', '23.4', false, '&lt; b'],
    ['started', '25.8', '15.6', true, '━━'],
  ]);
});

test('the picture of the README is small enough to download quickly', () => {
  expect(statSync(join(root, 'infra/readme/demo.svg')).size).toBeLessThan(150_000);
});
