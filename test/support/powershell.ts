import { createRequire } from 'node:module';
import { Language, type Node, Parser } from 'web-tree-sitter';

/** Parses PowerShell by a grammar, because PowerShell itself is on no package index. */
export interface PowerShellReader {
  /** Calls `use` with the root of the syntax tree. @throws where PowerShell could not parse the text. */
  read<T>(text: string, use: (root: Node) => T): T;
  /** What Windows PowerShell 5.1 could not parse, does not have, or does otherwise than it looks; each a phrase. */
  faultsIn(text: string): readonly string[];
  /** The same for a script: what makes it continue after a failure, or end without its exit code. */
  faultsInScript(text: string): readonly string[];
}

export async function createPowerShellReader(): Promise<PowerShellReader> {
  await Parser.init();
  const wasm = createRequire(import.meta.url).resolve('tree-sitter-powershell/tree-sitter-powershell.wasm');
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasm));
  const read = <T>(text: string, use: (root: Node) => T): T => {
    const tree = parser.parse(text);
    try {
      if (!tree || tree.rootNode.hasError) throw new Error(`PowerShell cannot read ${text}`);
      return use(tree.rootNode);
    } finally {
      tree?.delete();
    }
  };
  const faultsBy = (text: string, rules: (root: Node) => readonly string[]): readonly string[] => {
    try {
      return read(text, rules);
    } catch (error) {
      return [(error as Error).message];
    }
  };
  return {
    read,
    faultsIn: (text) => faultsBy(text, faultsOf),
    faultsInScript: (text) => faultsBy(text, (root) => [...faultsOf(root), ...faultsOfScript(root)]),
  };
}

const nodesOf = (root: Node, type: string): readonly Node[] =>
  root.descendantsOfType(type).filter((node): node is Node => node !== null);

const nameOf = (command: Node): string => command.childForFieldName('command_name')?.text ?? '';

/** The grammar already refuses `? :`, `??` and `?.`, which came with PowerShell 7. */
function faultsOf(root: Node): readonly string[] {
  return [
    ...nodesOf(root, 'pipeline_chain_tail').map(() => '&& and || need PowerShell 7'),
    ...nodesOf(root, 'redirected_file_name').map(
      ({ text }) => `> writes UTF-16:${text}; use Set-Content with -Encoding`,
    ),
    ...nodesOf(root, 'variable')
      .filter(({ text }) => /^\$(IsWindows|IsLinux|IsMacOS|IsCoreCLR)$/i.test(text))
      .map(({ text }) => `${text} is not set before PowerShell 6`),
    ...nodesOf(root, 'command').flatMap(faultsOfCommand),
  ];
}

/** Programs of Windows that have the name of an alias for a cmdlet. */
const aliases = new Map([
  ['sc', 'Set-Content'],
  ['curl', 'Invoke-WebRequest'],
  ['wget', 'Invoke-WebRequest'],
  ['fc', 'Format-Custom'],
  ['sort', 'Sort-Object'],
  ['where', 'Where-Object'],
  ['start', 'Start-Process'],
]);

/**
 * Cmdlets that may be used, with the parameters of them that Windows PowerShell 5.1 has.
 * https://learn.microsoft.com/powershell/module/?view=powershell-5.1
 */
const cmdlets: Readonly<Record<string, string>> = {
  'Add-Type': 'AssemblyName',
  'ConvertTo-Json': 'InputObject Depth Compress',
  'Copy-Item': 'Path LiteralPath Destination Force Recurse',
  'Expand-Archive': 'Path LiteralPath DestinationPath Force',
  'ForEach-Object': 'Process MemberName',
  'Get-Acl': 'Path LiteralPath',
  'Get-AuthenticodeSignature': 'FilePath LiteralPath',
  'Get-ChildItem': 'Path LiteralPath Filter Recurse Force',
  'Get-CimInstance': 'ClassName Filter Property',
  'Get-Content': 'Path LiteralPath Tail Wait Raw Encoding TotalCount',
  'Get-FileHash': 'Path LiteralPath Algorithm',
  'Get-Item': 'Path LiteralPath Force',
  'Get-ItemProperty': 'Path LiteralPath Name',
  'Get-NetFirewallRule': 'Name DisplayName Direction Action Enabled',
  'Get-Process': 'Name Id',
  'Get-PSDrive': 'Name PSProvider Scope',
  'Get-Service': 'Name',
  'Get-WinEvent': 'LogName ProviderName FilterHashtable MaxEvents Oldest',
  'Invoke-RestMethod': 'Uri Headers Method Body TimeoutSec UseBasicParsing ContentType OutFile Proxy WebSession',
  'Join-Path': 'Path ChildPath',
  'New-Object': 'TypeName ArgumentList',
  'New-ScheduledTaskAction': 'Execute Argument',
  'New-ScheduledTaskSettingsSet': 'ExecutionTimeLimit RestartCount RestartInterval',
  'New-ScheduledTaskTrigger': 'AtStartup',
  'New-TimeSpan': 'Minutes',
  'New-ItemProperty': 'Path LiteralPath Name PropertyType Value Force',
  'New-Item': 'Path Name ItemType Force Value',
  'Out-Null': 'InputObject',
  'Register-ScheduledTask': 'TaskName Action Trigger Settings User Force',
  'Remove-Item': 'Path LiteralPath Recurse Force',
  'Restart-Computer': 'Force',
  'Restart-Service': 'Name Force',
  'Select-Object': 'Property First Last ExpandProperty Skip',
  'Select-String': 'Pattern Path LiteralPath SimpleMatch Quiet',
  'Set-Content': 'Path LiteralPath Value Encoding NoNewline',
  'Set-Service': 'Name StartupType',
  'Start-Process': 'FilePath ArgumentList Wait NoNewWindow PassThru Verb',
  'Start-ScheduledTask': 'TaskName',
  'Start-Service': 'Name',
  'Start-Sleep': 'Seconds Milliseconds',
  'Stop-Process': 'Id Name Force',
  'Stop-ScheduledTask': 'TaskName',
  'Stop-Service': 'Name Force NoWait',
  'Test-NetConnection': 'ComputerName Port InformationLevel',
  'Test-Path': 'Path LiteralPath PathType',
  'Unregister-ScheduledTask': 'TaskName',
  'Where-Object': 'FilterScript Property EQ Match',
  'Write-Output': 'InputObject',
};
const common = 'ErrorAction ErrorVariable OutVariable Verbose Confirm WhatIf';

function faultsOfCommand(command: Node): readonly string[] {
  const name = nameOf(command);
  const alias = aliases.get(name.toLowerCase());
  if (alias !== undefined) return [`${name} is ${alias}: write ${name}.exe`];
  if (/\s/.test(name) && !/^["']/.test(name)) return [`${name} has a blank`];
  if (!/^[A-Za-z]+-[A-Za-z]+$/.test(name)) return [];
  const known = Object.entries(cmdlets).find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
  if (known === undefined) return [`${name} is not a cmdlet that is known here`];
  const parameters = `${known} ${common}`.toLowerCase().split(' ');
  const given = (command.childForFieldName('command_elements')?.namedChildren ?? [])
    .filter((node): node is Node => node?.type === 'command_parameter')
    .map(({ text }) => text.slice(1).replace(/:$/, ''));
  return [
    ...given
      .filter((parameter) => !parameters.includes(parameter.toLowerCase()))
      .map((one) => `${name} has no -${one} in 5.1`),
    ...(name === 'Set-Content' && !given.includes('Encoding') ? ['Set-Content without -Encoding writes ANSI'] : []),
  ];
}

/** Programs do not raise an error when they fail; only $LASTEXITCODE has their result. */
function faultsOfScript(root: Node): readonly string[] {
  const text = root.text;
  const programs = nodesOf(root, 'command').filter((command) => /\.(cmd|exe)["']?$/i.test(nameOf(command)));
  const unread = programs.filter(
    (command) => !/^[^;\n]*[;\n][^;\n]*\$LASTEXITCODE/.test(text.slice(command.startIndex)),
  );
  return [
    ...(/^\$ErrorActionPreference = 'Stop'/.test(text) ? [] : ["$ErrorActionPreference = 'Stop' is not first"]),
    ...unread.map((command) => `the exit code of ${nameOf(command)} is not read`),
    ...(programs.length === 0 || /\bexit \$\w+\s*$/.test(text) ? [] : ['it does not end with the exit code']),
    ...nodesOf(root, 'command')
      .filter((command) => /^Remove-Item$/i.test(nameOf(command)) && !/-LiteralPath/i.test(command.text))
      .map(() => 'Remove-Item without -LiteralPath takes [ ] for a pattern'),
  ];
}
