/**
 * Programs of Windows that the installer starts, for a machine in a folder. sc.exe and the service host keep the state of the service in
 * files; its program and its configuration decide how it behaves. Permissions are the mode of a file, which follows it when it is renamed.
 * The real service control manager is tried in the tests under Wine.
 */
export const standInPrograms = (where: {
  readonly states: string;
  readonly data: string;
}): Readonly<Record<'sc' | 'reg' | 'icacls' | 'cmd' | 'host', string>> => ({
  sc: sc(where),
  host: host(where),
  reg: `#!/bin/sh
echo "reg $*" >> ${where.states}/calls
cd ${where.states} || exit 1
case $1 in
  add) shift 2; echo "$*" >> events ;;
  query) [ -f events ] ;;
  delete) rm events ;;
esac
`,
  icacls: `#!/bin/sh
echo "icacls $*" >> ${where.states}/calls
path=$1
case "$*" in
  *' /save '*)
    case $(stat -c %a "$path") in
      640|750) list='D:PAI(A;;FR;;;S-1-5-80-4027410533-1092970159-1799280583-2625524982-4048887831)(A;;FA;;;SY)(A;;FA;;;BA)' ;;
      *) list='D:AI(A;ID;FA;;;SY)(A;ID;FA;;;BA)(A;ID;0x1200a9;;;BU)' ;;
    esac
    printf '%s\\r\\n%s\\r\\n' "\${path##*/}" "$list" | sed 's/./&\\x00/g; s/$/\\x00/' > "$3" ;;
  *' /reset '*) chmod -R go+r "$path" ;;
  *' /inheritance:r '*)
    case "$*" in *':(R)'*) chmod 640 "$path" ;; *':(RX)'*) chmod 750 "$path" ;; *) chmod 700 "$path" ;; esac ;;
esac
`,
  cmd: `#!/bin/sh\necho "cmd $*" >> ${where.states}/calls\n`,
});

const behaviour = ({ data }: { readonly data: string }): string => `
program=$(sed 's/^"//; s/"$//' image)
folder=\${program%/*}
behaviour() {
  texts=$(cat "$folder/scheduled-events-bridge.cjs" "${data}/config.json")
  for one in dies-when-up dies hangs is-deaf exits-78 cannot-start; do
    case $texts in *$one*) echo $one; return ;; esac
  done
  echo becomes-ready
}
number() { found=0; [ ! -f "$1" ] || read -r found < "$1"; }
count() { number "$1"; echo $((found + 1)) > "$1"; }
report() {
  number invocation; id=$found; number restarts
  mkdir -p "${data}/logs"
  printf '%s\\n' "ActiveState=$1" "SubState=$2" "MainPID=$3" "ExecMainStatus=$4" "InvocationID=$id" "NRestarts=$found" \\
    'StatusText=Polling; no open events.' Result=success "HostPID=4000" > "${data}/logs/service.state"
}
`;

const sc = ({ states, data }: { readonly states: string; readonly data: string }): string => `#!/bin/sh
cd ${states} || exit 1
echo "sc $*" >> calls
verb=$1; shift 2
value() { want=$1; shift; while [ $# -gt 0 ]; do [ "$1" != "$want" ] || { echo "$2"; return 0; }; shift; done; return 1; }
case $verb in
  create) [ ! -f image ] || exit 1; value binPath= "$@" > image; value start= "$@" > start; value obj= "$@" > account ;;
  config)
    [ -f image ] || exit 36
    if new=$(value binPath= "$@"); then echo "$new" > image; fi
    if new=$(value start= "$@"); then echo "$new" > start; fi
    if new=$(value obj= "$@"); then echo "$new" > account; fi ;;
  description|failure|sidtype) echo "$*" > "$verb" ;;
  delete) rm -f image start account description failure sidtype state ;;
  stop) [ -f state ] || exit 38; echo 3 > stopping; rm -f running ;;
  start)
    ${behaviour({ data })}
    count invocation; rm -f restarts ended running "${data}/state/held"
    behaviour > behaves; read -r behaves < behaves
    case $behaves in
      cannot-start) exit 5 ;;
      exits-78) echo '1066 78' > ended; exit 0 ;;
      becomes-ready|is-deaf)
        [ $behaves = is-deaf ] || touch "${data}/state/held"
        report active running 4711 0
        sed -n 's/^version //p' "$folder/scheduled-events-bridge.cjs" > running ;;
      dies) report activating auto-restart 0 1 ;;
      hangs) report activating start 4712 0 ;;
      dies-when-up) report active running 4713 0 ;;
    esac
    echo running > state ;;
  *) echo "the stand-in of sc.exe knows no $verb" >&2; exit 1 ;;
esac
`;

const host = ({ states, data }: { readonly states: string; readonly data: string }): string => `#!/bin/sh
cd ${states} || exit 1
case $1 in
  --is-elevated) [ ! -f not-elevated ] ;;
  --set-preshutdown) echo "host $*" >> calls ;;
  --query)
    [ -f image ] || { echo State=missing; exit 0; }
    # It takes some polls to stop.
    if [ -f stopping ]; then
      read -r left < stopping
      if [ "$left" = 0 ]; then rm -f stopping state "${data}/state/held"; else echo $((left - 1)) > stopping; fi
    elif [ -f state ]; then
      ${behaviour({ data })}
      read -r behaves < behaves
      case $behaves in
        dies) count restarts; report activating auto-restart 0 1 ;;
        dies-when-up) count restarts; number restarts; report active running $((4713 + found)) 1 ;;
      esac
    fi
    state=stopped pid=0 ended='0 0' start=manual
    [ -f state ] && { read -r state < state; pid=4000; }
    [ -f stopping ] && state=stop-pending
    [ -f ended ] && read -r ended < ended
    read -r type < start
    case $type in auto) start=automatic ;; disabled) start=disabled ;; esac
    printf '%s\\r\\n' "State=$state" "ProcessId=$pid" "Win32ExitCode=\${ended% *}" "ServiceExitCode=\${ended#* }" "StartType=$start" \\
      "Account=$(cat account)" "ImagePath=$(cat image)" ;;
esac
`;
