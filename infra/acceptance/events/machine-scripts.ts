import type { Machine } from '../target.ts';

/**
 * Scripts for a VM, run as root or SYSTEM by run-command. It returns about 3 KB of what a script printed, so texts are compressed, kept on the VM, and
 * fetched in pieces.
 */
export interface MachineScripts {
  /** Replaces an earlier recording. The recorder starts again with the VM, each time with a new file. */
  readonly startRecording: string;
  readonly stopRecording: string;
  /** Packs all files of the recording, and prints the first piece. */
  readonly packRecording: string;
  /** Runs the bridge's command, packs what it printed, and prints the first piece; ends with the exit code of the command. */
  run(args: readonly string[]): string;
  /** A later piece of what was packed, from this character of its base64. */
  piece(offset: number): string;
}

/** Characters of base64 in a piece. */
export const pieceLength = 2_700;

const recorder = 'scheduled-events-recorder';

const linuxFolder = `/var/lib/${recorder}`;
const linuxBridge = '/opt/scheduled-events-bridge/current/scheduled-events-bridge';
const linuxPacked = `/var/tmp/${recorder}.packed`;
const linuxPiece = (offset: number): string =>
  `printf '%s %s' "$(wc -c <${linuxPacked})" "$(tail -c +${offset + 1} ${linuxPacked} | head -c ${pieceLength})"`;
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

const linux: MachineScripts = {
  startRecording: `set -eu
systemctl stop ${recorder}.service 2>/dev/null || true
rm -rf ${linuxFolder}
mkdir -m 700 ${linuxFolder}
cat >/etc/systemd/system/${recorder}.service <<'UNIT'
[Unit]
Description=Records the scheduled events of this VM for an acceptance run
StartLimitIntervalSec=0

[Service]
ExecStart=/bin/sh -c 'exec ${linuxBridge} record "${linuxFolder}/$$(date -u +%%Y%%m%%dT%%H%%M%%S%%N).jsonl"'
Restart=always
RestartSec=1

[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --quiet --now ${recorder}.service
for second in $(seq 60); do
  if grep -qs DocumentIncarnation ${linuxFolder}/*.jsonl; then exit 0; fi
  sleep 1
done
journalctl --unit ${recorder}.service --no-pager --lines 5
exit 1`,
  stopRecording: `systemctl disable --quiet --now ${recorder}.service`,
  packRecording: `set -eu
for file in ${linuxFolder}/*.jsonl; do cat "$file"; echo; done | gzip -9 | base64 -w 0 >${linuxPacked}
${linuxPiece(0)}`,
  run: (args) => `${linuxBridge} ${args.map(quoted).join(' ')} >${linuxPacked}.text 2>&1 </dev/null
code=$?
gzip -9 <${linuxPacked}.text | base64 -w 0 >${linuxPacked}
${linuxPiece(0)}
exit $code`,
  piece: linuxPiece,
};

const windowsFolder = `$env:ProgramData\\${recorder}`;
const windowsPacked = `$env:ProgramData\\${recorder}.packed`;
const windowsBridge = '$env:ProgramFiles\\scheduled-events-bridge\\scheduled-events-bridge.cmd';
const windowsQuoted = (word: string): string => `'${word.replaceAll("'", "''")}'`;
const windowsPiece = (offset: number): string => `$packed = [IO.File]::ReadAllText("${windowsPacked}")
$length = [Math]::Max(0, [Math]::Min(${pieceLength}, $packed.Length - ${offset}))
"$($packed.Length) $($packed.Substring([Math]::Min(${offset}, $packed.Length), $length))"`;
/** Packs the variable `$text`. */
const windowsPack = `$bytes = [Text.Encoding]::UTF8.GetBytes($text)
$stream = New-Object -TypeName IO.MemoryStream
$gzip = New-Object -TypeName IO.Compression.GZipStream -ArgumentList $stream, ([IO.Compression.CompressionMode]::Compress)
$gzip.Write($bytes, 0, $bytes.Length)
$gzip.Close()
[IO.File]::WriteAllText("${windowsPacked}", [Convert]::ToBase64String($stream.ToArray()))`;

/** Only administrators and the system may read the folder: documents name VMs and subscriptions. assumption: windows-acceptance-recorder */
const windows: MachineScripts = {
  startRecording: `$ErrorActionPreference = 'Stop'
Stop-ScheduledTask -TaskName ${recorder} -ErrorAction SilentlyContinue
Remove-Item -Path "${windowsFolder}" -Recurse -Force -ErrorAction SilentlyContinue
New-Item -Path "${windowsFolder}" -ItemType Directory | Out-Null
icacls.exe "${windowsFolder}" /inheritance:r /grant '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' | Out-Null
$script = @'
$name = (Get-Date).ToUniversalTime().ToString('yyyyMMddTHHmmssfff') + '.jsonl'
& "${windowsBridge}" record "${windowsFolder}\\$name"
'@
Set-Content -Path "${windowsFolder}\\record.ps1" -Value $script -Encoding ASCII
$action = New-ScheduledTaskAction -Execute powershell.exe -Argument "-NoProfile -NonInteractive -ExecutionPolicy Bypass -File \`"${windowsFolder}\\record.ps1\`""
$trigger = New-ScheduledTaskTrigger -AtStartup
$settings = New-ScheduledTaskSettingsSet -ExecutionTimeLimit ([TimeSpan]::Zero) -RestartCount 100 -RestartInterval (New-TimeSpan -Minutes 1)
Register-ScheduledTask -TaskName ${recorder} -Action $action -Trigger $trigger -Settings $settings -User SYSTEM -Force | Out-Null
Start-ScheduledTask -TaskName ${recorder}
foreach ($second in 1..60) {
  if (Select-String -Path "${windowsFolder}\\*.jsonl" -Pattern DocumentIncarnation -Quiet -ErrorAction SilentlyContinue) { return }
  Start-Sleep -Seconds 1
}
throw 'The recorder has recorded nothing within a minute.'`,
  stopRecording: `Unregister-ScheduledTask -TaskName ${recorder} -Confirm:$false
Get-CimInstance -ClassName Win32_Process -Filter "Name = 'node.exe'" | Where-Object { $_.CommandLine -like '*${recorder}*' } | ForEach-Object { Stop-Process -Id $_.ProcessId -Force }`,
  packRecording: `$text = (Get-ChildItem -Path "${windowsFolder}" -Filter *.jsonl | ForEach-Object { [IO.File]::ReadAllText($_.FullName) + "\`n" }) -join ''
${windowsPack}
${windowsPiece(0)}`,
  run: (
    args,
  ) => `$text = (& "${windowsBridge}" ${args.map(windowsQuoted).join(' ')} 2>&1 | ForEach-Object { "$_" }) -join "\`n"
${windowsPack}
${windowsPiece(0)}`,
  piece: windowsPiece,
};

export const machineScripts = (os: Machine['os']): MachineScripts => ({ linux, windows })[os];
