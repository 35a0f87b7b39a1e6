/** Scripts that run on the VMs, as root or SYSTEM. They contain no secrets. */

const linuxBridge = '/opt/scheduled-events-bridge/current/scheduled-events-bridge';
/** Also in a 32-bit PowerShell: Microsoft documents no bitness of Run Command. */
const windowsBridge = '& "$env:ProgramW6432\\scheduled-events-bridge\\scheduled-events-bridge.cmd"';

/** A command of the bridge. Its words need no quotes. */
export const bridgeCommand = (os: 'linux' | 'windows', args: string): string =>
  os === 'windows' ? `${windowsBridge} ${args}` : `${linuxBridge} ${args}`;

/** Removes the bridge, however it was installed; ends with 0 where none is. */
export const removeBridge = (os: 'linux' | 'windows'): string =>
  os === 'windows'
    ? [
        '$remover = "$env:ProgramW6432\\scheduled-events-bridge\\remove.cmd"',
        'if (Test-Path -LiteralPath $remover) { & $remover }',
      ].join('\n')
    : [
        'if dpkg-query --show scheduled-events-bridge >/dev/null 2>&1; then',
        '  DEBIAN_FRONTEND=noninteractive apt-get --option DPkg::Lock::Timeout=300 purge --yes scheduled-events-bridge >&2',
        'elif test -e /opt/scheduled-events-bridge/remove.sh; then',
        '  /opt/scheduled-events-bridge/remove.sh >&2',
        'fi',
      ].join('\n');

/** Prints what is left of the bridge, one path a line. */
export const listLeftovers = (os: 'linux' | 'windows'): string =>
  os === 'windows'
    ? [
        '$folders = "$env:ProgramW6432\\scheduled-events-bridge", "$env:ProgramData\\scheduled-events-bridge"',
        '$folders | Where-Object { Test-Path -LiteralPath $_ }',
        "if (Get-Service -Name scheduled-events-bridge -ErrorAction SilentlyContinue) { 'the service' }",
      ].join('\n')
    : [
        'for path in /opt/scheduled-events-bridge /etc/scheduled-events-bridge /var/lib/scheduled-events-bridge \\',
        '  /usr/local/bin/scheduled-events-bridge /usr/local/lib/systemd/system/scheduled-events-bridge.service \\',
        '  /usr/lib/systemd/system/scheduled-events-bridge.service; do',
        '  if test -e "$path" || test -L "$path"; then echo "$path"; fi',
        'done',
      ].join('\n');

/**
 * Downloads a package with the identity of the bridges, for up to 10 minutes until its role is known, and installs and configures it as `infra/install.md` describes.
 * https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
 */
export const installDebianPackage = (options: {
  readonly address: string;
  readonly identityClientId: string;
  /** Without a path, as in `https://storage.azure.com`. */
  readonly audience: string;
  readonly configuration: string;
}): string => {
  const tokenUrl = `http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${encodeURIComponent(options.audience)}&client_id=${options.identityClientId}`;
  const name = options.address.split('/').at(-1);
  return [
    'set -e',
    'folder=$(mktemp --directory)',
    'cd "$folder"',
    'chmod 755 "$folder"',
    `curl --silent --show-error --fail --noproxy '*' --header Metadata:true '${tokenUrl}' > token.json`,
    `token=$(python3 -c 'import json; print(json.load(open("token.json"))["access_token"])')`,
    'rm token.json',
    `printf 'header = "Authorization: Bearer %s"' "$token" | curl --silent --show-error --fail --config - --retry 20 --retry-delay 30 --retry-all-errors --header 'x-ms-version: 2021-08-06' --output '${name}' '${options.address}'`,
    `printf %s '${Buffer.from(options.configuration).toString('base64')}' | base64 --decode > config.json`,
    `DEBIAN_FRONTEND=noninteractive apt-get --option DPkg::Lock::Timeout=300 install --yes './${name}' >&2`,
    'scheduled-events-bridge service configure --config config.json >&2',
    'rm -r "$folder"',
  ].join('\n');
};
