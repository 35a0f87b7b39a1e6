/**
 * The commands and words that differ between the operating systems, for messages to an operator. Chosen once per process, so that no
 * message decides by itself. Commands stand as they are pasted: into a shell on Linux; into Windows PowerShell 5.1, which every
 * Windows Server has, started as administrator, on Windows.
 */
export interface OperatingSystem {
  readonly name: 'Linux' | 'Windows';
  /** Before a command that is printed. */
  readonly prompt: string;
  /** Who may do everything: completes "run it as …". */
  readonly administrator: string;
  readonly startService: string;
  readonly restartService: string;
  readonly showServiceLog: string;
  /** What may have stopped a process that does not answer, and how it is resumed: completes "It is stopped (…)" and "… it (…)". */
  readonly suspended: { readonly causes: string; readonly resume: string };
  /** The bridge's own command line with these arguments, with the rights to change its state. */
  bridge(args: string): string;
  /** Sets the clock by what the hypervisor or the time service says. */
  readonly setClock: string;
  /** A read-only disk is explained there. */
  readonly diskLog: string;
  /** A program that shows which process holds a file. */
  readonly findHolder: string;
  showFreeSpace(path: string): string;
  showAccess(...paths: readonly string[]): string;
  removeFile(path: string): string;
  /** Whether a TCP connection can be established. */
  probePort(host: string, port: number): string;
  /** The certificates that a host shows; through `proxy` where that is given, as host and port. */
  showCertificate(host: string, port: number, proxy?: string): string;
  /** A request to the metadata service, past every proxy. */
  askMetadata(url: string): string;
  readonly configurationFile: string;
  readonly stateDirectory: string;
  /** How a file for a secret was created: completes "Wrote FILE, …". */
  readonly newSecretFile: string;
  /** A file for a secret beside the configuration. */
  secretFile(name: string): string;
}

const product = 'scheduled-events-bridge';

export const linux: OperatingSystem = {
  name: 'Linux',
  prompt: '$',
  administrator: 'root',
  startService: `sudo systemctl start ${product}`,
  restartService: `sudo systemctl restart ${product}`,
  showServiceLog: `sudo journalctl -u ${product}`,
  suspended: { causes: 'SIGSTOP, a debugger, a frozen container', resume: 'kill -CONT' },
  bridge: (args) => `sudo ${product} ${args}`,
  setClock: 'sudo chronyc makestep || sudo systemctl restart systemd-timesyncd',
  diskLog: 'the kernel log',
  findHolder: 'fuser',
  showFreeSpace: (path) => `df -h ${path}`,
  showAccess: (...paths) => `ls -ld ${paths.join(' ')}`,
  removeFile: (path) => `rm ${path}`,
  probePort: (host, port) => `nc -vz -w 5 ${host} ${port}`,
  showCertificate: (host, port, proxy) =>
    `openssl s_client ${proxy === undefined ? '' : `-proxy ${proxy} `}-connect ${host}:${port} -servername ${host} -showcerts </dev/null`,
  askMetadata: (url) => `curl -sS -m 10 --noproxy "*" -H Metadata:true "${url}"`,
  configurationFile: `/etc/${product}/config.json`,
  stateDirectory: `/var/lib/${product}`,
  newSecretFile: 'with mode 600',
  secretFile: (name) => `/etc/${product}/${name}`,
};

/** A text as one word of PowerShell, which replaces nothing in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

export const windows: OperatingSystem = {
  name: 'Windows',
  prompt: 'PS>',
  administrator: 'administrator',
  startService: `Start-Service ${product}`,
  restartService: `Restart-Service ${product}`,
  showServiceLog: `Get-Content -Tail 100 -Encoding UTF8 "$env:ProgramData\\${product}\\logs\\bridge.log"; Get-WinEvent -ProviderName ${product} -MaxEvents 20`,
  suspended: { causes: 'a debugger, a suspended process', resume: 'in Resource Monitor, resmon.exe' },
  bridge: (args) => `& "$env:ProgramFiles\\${product}\\${product}.cmd" ${args}`,
  setClock: 'w32tm /resync /force',
  diskLog: 'the System event log',
  findHolder: 'Resource Monitor, resmon.exe',
  showFreeSpace: () => 'Get-PSDrive -PSProvider FileSystem',
  showAccess: (...paths) => paths.map((path) => `icacls ${quoted(path)}`).join('; '),
  removeFile: (path) => `Remove-Item -LiteralPath ${quoted(path)}`,
  probePort: (host, port) => `Test-NetConnection -ComputerName ${host} -Port ${port}`,
  // Windows has no openssl; curl.exe is there since Windows Server 2019. In PowerShell 5.1 `curl` is another command.
  showCertificate: (host, port, proxy) =>
    proxy === undefined
      ? `$tls = [Net.Security.SslStream]::new([Net.Sockets.TcpClient]::new('${host}', ${port}).GetStream(), $false, { $true }); $tls.AuthenticateAsClient('${host}'); $tls.RemoteCertificate.ToString()`
      : `curl.exe -v -m 10 -x 'http://${proxy}' 'https://${host}:${port}/'`,
  // https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service#proxies
  askMetadata: (url) =>
    `$web = New-Object Microsoft.PowerShell.Commands.WebRequestSession; $web.Proxy = New-Object Net.WebProxy; Invoke-RestMethod -Headers @{ Metadata = 'true' } -TimeoutSec 10 -WebSession $web -Uri '${url}' | ConvertTo-Json -Depth 9`,
  configurationFile: `%ProgramData%\\${product}\\config.json`,
  stateDirectory: `%ProgramData%\\${product}\\state`,
  newSecretFile: 'with the access rights of its folder: keep it where only administrators can read it',
  secretFile: (name) => `C:\\ProgramData\\${product}\\${name}`,
};

export const operatingSystemOf = (platform: NodeJS.Platform): OperatingSystem =>
  platform === 'win32' ? windows : linux;

/** The one that this process runs on. */
export const thisSystem = operatingSystemOf(process.platform);
