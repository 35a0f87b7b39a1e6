import { expect, test } from 'vitest';
import { approveFinding } from '../../../src/cli/check/approve.ts';
import { linux, windows } from '../../../src/operating-system.ts';

const nothing = { userInitiated: false, freezeUpToSeconds: null, onBehalfOf: [], onBehalfAfterSeconds: 60 };
const off = { switchOffFile: '/state/approve.disabled', isSwitchedOff: false, system: linux };

test.for([
  { name: 'nothing', policy: nothing, message: /^Nothing is approved automatically/ },
  {
    name: 'short freezes',
    policy: { ...nothing, freezeUpToSeconds: 10 },
    message: /: freezes of at most 10 s, where this VM is the first that the event names\. Never Preempt/,
  },
  {
    name: 'everything that there is',
    policy: { userInitiated: true, freezeUpToSeconds: 5, onBehalfOf: ['web_1', 'web_2'], onBehalfAfterSeconds: 90 },
    message: /: reboots and redeploys .*, and freezes .*; .* on behalf of web_1, web_2, after 90 s\. Never/,
  },
])('the approval policy in words: $name', ({ policy, message }) => {
  expect(approveFinding(policy, off)).toMatchObject({ verdict: 'ok', message: expect.stringMatching(message) });
});

test('a policy that is switched off by its file is a warning, with the way back', () => {
  const found = approveFinding({ ...nothing, userInitiated: true }, { ...off, isSwitchedOff: true });
  expect(found).toMatchObject({ verdict: 'warning', remedy: 'rm /state/approve.disabled' });
  expect(found.message).toMatch(/^Nothing is approved automatically while .* an operator may approve any event/);
  const onWindows = { switchOffFile: "D:\\o's\\approve.disabled", isSwitchedOff: true, system: windows };
  expect(approveFinding({ ...nothing, userInitiated: true }, onWindows).remedy).toBe(
    "Remove-Item -LiteralPath 'D:\\o''s\\approve.disabled'",
  );
});
