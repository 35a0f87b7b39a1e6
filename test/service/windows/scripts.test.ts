import { expect, test } from 'vitest';
import { commandScript, laterRemoval, removerScript } from '../../../src/service/windows/scripts.ts';

test('command files have the line ends that cmd.exe needs', () => {
  for (const text of [commandScript('1.0.0'), removerScript()]) {
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(text.endsWith('\r\n')).toBe(true);
  }
});

test('the command runs the program of the version beside it, without what is set for other programs', () => {
  const [, line = ''] = commandScript('1.0.0+abc').split('\r\n');
  expect(line).toContain(
    '"%~dp0versions\\1.0.0+abc\\node.exe" "%~dp0versions\\1.0.0+abc\\scheduled-events-bridge.cjs" %*',
  );
  expect(line).toContain('set "NODE_OPTIONS="');
});

test('files that are in use are deleted later, with their folder', () => {
  const [line = ''] = laterRemoval('C:\\Program Files\\x.removed').slice(-1);
  expect(line).toContain('del /f /q "C:\\Program Files\\x.removed\\*"');
  expect(line).toContain('rmdir "C:\\Program Files\\x.removed"');
});
