import { expect, test } from 'vitest';
import { frame } from '../../../src/azure-simulator/demo/frame.ts';
import { toText } from '../../../src/terminal/styled-text.ts';
import { showAt } from './performance.ts';

const drawn = (seconds: number, columns: number, colour = false): string[] =>
  frame(showAt(seconds), seconds, columns).map((row) => toText(row, colour).trimEnd());

const stills: readonly { readonly name: string; readonly seconds: number; readonly picture: readonly string[] }[] = [
  {
    name: 'the picture before the first event',
    seconds: 0,
    picture: [
      ' Scheduled Events Bridge  demo           Azure: incarnation 1, 0 events     0 s',
      '',
      '            0 s   5 s    10 s   15 s   20 s   25 s',
      '',
      '',
      '',
      '',
      '',
      ' bridge     ╌                                          starting',
      ' event hub  ·                                          0 records',
      ' table      ·                                          0 records',
      '',
      ' Read back from the event hub',
      '',
      '',
      '',
      '',
      '',
      '',
      '',
      ' ── scheduled  ━━ started  ┊ not before  ▒▒ frozen  ✕ kill -9  × hub down',
    ],
  },
  {
    name: 'the picture while an event is frozen and another was canceled',
    seconds: 10,
    picture: [
      ' Scheduled Events Bridge  demo            Azure: incarnation 5, 1 event    10 s',
      '',
      '            0 s   5 s    10 s   15 s   20 s   25 s',
      ' Freeze      ●───────●━━━━                             Scheduled',
      ' Freeze 2       ●───○                                  Canceled',
      '',
      '',
      '',
      ' bridge     ╌───────────▒▒                             frozen by SIGSTOP',
      ' event hub  ··●·●···●·····                             3 records',
      ' table      ··●···········                             1 record',
      '',
      ' Read back from the event hub',
      '   2.0 s  Freeze    Scheduled  said-by-azure',
      '   3.5 s  Freeze 2  Scheduled  said-by-azure',
      '   6.5 s  Freeze 2  Canceled   left-before-not-before',
      '',
      '',
      '',
      '',
      ' ── scheduled  ━━ started  ┊ not before  ▒▒ frozen  ✕ kill -9  × hub down',
    ],
  },
  {
    name: 'the picture while the bridge is killed and the event hub is down',
    seconds: 19,
    picture: [
      ' Scheduled Events Bridge  demo            Azure: incarnation 8, 1 event    19 s',
      '',
      '            0 s   5 s    10 s   15 s   20 s   25 s',
      ' Freeze      ●───────●━━━━━━●                          Completed paused 1.48 s',
      ' Freeze 2       ●───○                                  Canceled',
      ' Reboot                      ●──┊●━━━━                 Scheduled',
      '',
      '',
      ' bridge     ╌───────────▒▒──────────✕                  kill -9, 1 pending',
      ' event hub  ··●·●···●········●●×××××××                 5 records, down',
      ' table      ··●···················●···                 2 records',
      '',
      ' Read back from the event hub',
      '   2.0 s  Freeze    Scheduled  said-by-azure',
      '   3.5 s  Freeze 2  Scheduled  said-by-azure',
      '   6.5 s  Freeze 2  Canceled   left-before-not-before',
      '  12.5 s  Freeze    Completed  left-after-started, not-before-passed',
      '  13.5 s  Reboot    Scheduled  said-by-azure',
      '',
      '',
      ' ── scheduled  ━━ started  ┊ not before  ▒▒ frozen  ✕ kill -9  × hub down',
    ],
  },
  {
    name: 'the picture of what has come back',
    seconds: 22,
    picture: [
      ' Scheduled Events Bridge  demo            Azure: incarnation 8, 1 event    22 s',
      '',
      '            0 s   5 s    10 s   15 s   20 s   25 s',
      ' Freeze      ●───────●━━━━━━●                          Completed paused 1.48 s',
      ' Freeze 2       ●───○                                  Canceled',
      ' Reboot                      ●──┊●━━━━━━━━━            Started notice 3.00 s',
      '',
      '',
      ' bridge     ╌───────────▒▒──────────✕  ╌───            running again',
      ' event hub  ··●·●···●········●●××××××××××●·            6 records',
      ' table      ··●···················●·····●··            2 records, 1 copy',
      '',
      ' Read back from the event hub',
      '   2.0 s  Freeze    Scheduled  said-by-azure',
      '   3.5 s  Freeze 2  Scheduled  said-by-azure',
      '   6.5 s  Freeze 2  Canceled   left-before-not-before',
      '  12.5 s  Freeze    Completed  left-after-started, not-before-passed',
      '  13.5 s  Reboot    Scheduled  said-by-azure',
      '  21.5 s  Reboot    Started    said-by-azure',
      '',
      ' ── scheduled  ━━ started  ┊ not before  ▒▒ frozen  ✕ kill -9  × hub down',
    ],
  },
];

test.for(stills)('$name', ({ seconds, picture }) => {
  expect(drawn(seconds, 80)).toEqual(picture);
});

test('the picture keeps its height, and no line is wider than the terminal', () => {
  for (const columns of [80, 100, 118, 200]) {
    for (const seconds of [0, 2, 9, 15, 22, 40]) {
      const lines = drawn(seconds, columns);
      expect(lines).toHaveLength(21);
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(Math.min(columns, 118));
    }
  }
});

test('the time line grows with a show that takes longer', () => {
  expect(drawn(22, 80)[2]).toMatch(/^ +0 s +5 s .* 25 s$/);
  expect(drawn(48, 80)[2]).toMatch(/^ +0 s +10 s +20 s +30 s +40 s$/);
});

test('colours are only added: without them the text is the same', () => {
  const coloured = drawn(22, 80, true).join('\n');
  const esc = String.fromCharCode(27);
  expect(coloured).toContain(`${esc}[32m`);
  expect(coloured.replaceAll(new RegExp(`${esc}\\[[0-9;]*m`, 'g'), '').replaceAll(/ +$/gm, '')).toBe(
    drawn(22, 80).join('\n'),
  );
});
