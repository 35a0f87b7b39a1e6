import { expect, test } from 'vitest';
import { servicePage } from '../../../src/cli/service/page.ts';
import type { Done } from '../../../src/service/install.ts';
import {
  beginningSentences,
  doneSentences,
  uninstalledSentences,
  unreachedSentence,
} from '../../../src/service/sentences.ts';
import { serviceStatus } from '../../../src/service/status.ts';
import { createPowerShellReader } from '../../support/powershell.ts';
import { refusalOf } from '../harness.ts';
import { createWindowsHarness } from './harness.ts';

const done: Done = {
  ...{ outcome: 'waits', folder: '1.0.0', from: null, changed: true, wasThere: false, command: 'absent' },
  ...{ editedUnit: null, message: '', unreached: null },
};

test('what is said on Windows names nothing of Linux', async () => {
  using harness = createWindowsHarness();
  const { system, clock } = harness.machine;
  await harness.install({ from: harness.package('1.0.0'), configuration: harness.configuration('a') });
  const outcomes = ['waits', 'masked', 'rests', 'later', 'becomes-ready', 'ready-already'] as const;
  const status = await serviceStatus(harness.machine);
  const said = [
    ...outcomes.flatMap((outcome) => doneSentences({ ...done, outcome }, system)),
    ...beginningSentences({ outcome: 'becomes-ready' }, system),
    unreachedSentence('No route.', system),
    servicePage(status, system.words),
    servicePage({ ...status, isAsItWasReady: false, service: null }, system.words),
    servicePage({ ...status, configuration: { ...status.configuration, isThere: null } }, system.words),
    servicePage({ ...status, configuration: { ...status.configuration, problems: ['Wrong.'] } }, system.words),
    (await refusalOf(harness.install({ from: harness.package('2.0.0', { behaviour: 'dies' }) }))).message,
    ...uninstalledSentences(await harness.uninstall(), system, clock.now()),
  ];
  const withoutPaths = said.map((text) => text.replaceAll(harness.path, ''));
  expect(withoutPaths.length).toBeGreaterThan(12);
  for (const text of withoutPaths)
    expect(text).not.toMatch(/systemctl|journalctl|systemd|sudo|\broot\b|iptables|\/opt|\/etc/);
  expect(withoutPaths.join('\n')).toContain('then "Restart-Service scheduled-events-bridge"');
});

test('the commands that are named on Windows can be read by PowerShell', async () => {
  using harness = createWindowsHarness();
  const { words } = harness.machine.system;
  const reader = await createPowerShellReader();
  const commands = [
    `${words.command} service enable`,
    words.restartService,
    ...words.showServiceLog.split('; '),
    words.unmask.replace(/^run /, ''),
  ];
  expect(commands.flatMap((command) => reader.faultsIn(command))).toEqual([]);
});
