/**
 * Programs that the installer starts, for a machine in a folder. `systemctl` keeps the state of the unit in files, and its program and
 * its configuration decide how the service behaves. The real systemd is tried in the host tests, where one boots.
 */
export const standInPrograms = (where: { readonly root: string; readonly states: string }): Record<string, string> => ({
  systemctl: systemctl(where),
  journalctl: `#!/bin/sh\nprintf '%s\\n' '{"level":"error","msg":"The \\"disk\\" is gone."}' 'a line of systemd'\n`,
  useradd: `#!/bin/sh
cd ${where.root}/etc || exit 1
if [ -f passwd.lock ]; then
  [ "$LC_ALL" = C ] || { echo 'useradd: /etc/passwd kann nicht gesperrt werden; versuchen Sie es später noch einmal.' >&2; exit 1; }
  echo 'useradd: cannot lock /etc/passwd; try again later.' >&2
  exit 1
fi
case $* in *--user-group*)
  ! grep -q ^scheduled-events-bridge: group || { echo 'useradd: group scheduled-events-bridge exists' >&2; exit 9; }
  echo "scheduled-events-bridge:x:$(id -g):" >> group ;;
*'--gid scheduled-events-bridge'*) grep -q ^scheduled-events-bridge: group || exit 6 ;;
*) echo 'useradd: it would get a group that others are in' >&2; exit 1 ;;
esac
echo "scheduled-events-bridge:x:$(id -u):$(id -g)::/:/usr/sbin/nologin" >> passwd
`,
  userdel: `#!/bin/sh
[ ! -f ${where.states}/account-stays ] || { echo 'userdel: user is currently used by process 7' >&2; exit 8; }
cd ${where.root}/etc || exit 1
sed -i /^scheduled-events-bridge:/d passwd
[ -f ${where.states}/groups-stay ] || sed -i /^scheduled-events-bridge:/d group
`,
  groupdel: `#!/bin/sh
sed -i /^scheduled-events-bridge:/d ${where.root}/etc/group
`,
});

const systemctl = ({ root, states }: { readonly root: string; readonly states: string }): string => `#!/bin/sh
home=${root}/opt/scheduled-events-bridge
config=${root}/etc/scheduled-events-bridge/config.json
wants=${root}/etc/systemd/system/multi-user.target.wants
state=${root}/var/lib/scheduled-events-bridge
cd ${states} || exit 1
echo "$*" >> calls
# As systemd does: the administrator's, the installer's, the package manager's.
for folder in etc usr/local/lib usr/lib; do
  unit=${root}/$folder/systemd/system/scheduled-events-bridge.service
  if [ -L "$unit" ]; then masked=yes; fi
  if [ -e "$unit" ]; then break; fi
done

number() { found=0; [ ! -f "$1" ] || read -r found < "$1"; }
count() { number "$1"; echo $((found + 1)) > "$1"; }
reload() { if [ -f "$unit" ]; then cp -p "$unit" known; else rm -f known; fi; }
# Content, where the times differ: it is asked hundreds of times, and no program is started for it.
is_stale() {
  if [ "$unit" -nt known ] || [ "$unit" -ot known ]; then ! cmp -s known "$unit"; else [ ! -e "$unit" ]; fi
}
# What the process does, by the worse of its program and its configuration.
behaviour() {
  texts=$(cat "$home/current/scheduled-events-bridge.cjs" "$config")
  for one in dies-when-up dies hangs is-deaf exits-78 exits-203; do
    case $texts in *$one*) echo $one; return ;; esac
  done
  echo becomes-ready
}
begin() {
  count invocation
  rm -f running "$state/held" active
  behaviour > behaves
  read -r behaves < behaves
  case $behaves in
    becomes-ready|is-deaf)
      mkdir -p "$state"
      [ $behaves = is-deaf ] || touch "$state/held"
      echo 'active running 4711 0' > active
      sed -n 's/^version //p' "$home/current/scheduled-events-bridge.cjs" > running ;;
    dies) echo 'activating auto-restart 0 1' > active ;;
    exits-*) echo "activating auto-restart 0 \${behaves#exits-}" > active ;;
    hangs) echo 'activating start 4712 0' > active ;;
    dies-when-up) echo 'active running 4713 0' > active ;;
  esac
}
# Each poll is half a second later: a process that dies is restarted meanwhile.
again() {
  read -r behaves < behaves
  case $behaves in
    dies|exits-*) count invocation; count restarts ;;
    dies-when-up) count invocation; count restarts; number restarts; echo "active running $((4713 + found)) 1" > active ;;
  esac
}

case $1 in
  daemon-reload) [ ! -f reload-fails ] || { echo 'Failed to reload: no reply.' >&2; exit 1; }; reload ;;
  enable)
    [ -f "$unit" ] || { echo "Unit file $2 does not exist." >&2; exit 1; }
    reload; mkdir -p "$wants"; ln -sfn "\${unit#${root}}" "$wants/scheduled-events-bridge.service" ;;
  disable) rm -f "$wants/scheduled-events-bridge.service"; rmdir "$wants" 2>/dev/null || true ;;
  restart) [ -f known ] || { echo 'Unit not found.' >&2; exit 5; }; rm -f restarts
    # With --no-block the one before is still there for some polls, while it sends what is pending.
    if [ -f running ]; then echo 4 > stopping; else begin; fi ;;
  stop) rm -f active running stopping "$state/held" ;;
  reset-failed) ;;
  show)
    [ ! -f show-fails ] || { echo 'Failed to get properties: Connection timed out' >&2; exit 1; }
    if [ -f stopping ]; then
      read -r left < stopping
      if [ "$left" = 0 ]; then rm stopping; begin; else echo $((left - 1)) > stopping; fi
    elif [ -f active ]; then again; fi
    line='inactive dead 0 0' invocation='' restarts=0 load=loaded stale=no file=
    [ -f active ] && read -r line < active
    [ -f invocation ] && read -r invocation < invocation
    [ -f restarts ] && read -r restarts < restarts
    set -- $line
    if [ -f masked ] || [ -n "\${masked-}" ]; then file=masked
    elif [ -L "$wants/scheduled-events-bridge.service" ]; then file=enabled
    elif [ -f "$unit" ]; then file=disabled; fi
    [ -f known ] || load=not-found
    [ -f known ] && is_stale && stale=yes
    echo "ActiveState=$1
SubState=$2
MainPID=$3
ExecMainStatus=$4
InvocationID=$invocation
NRestarts=$restarts
StatusText=Polling; no open events.
Result=success
UnitFileState=$file
LoadState=$load
NeedDaemonReload=$stale" ;;
  *) echo "the stand-in of systemctl knows no $1" >&2; exit 1 ;;
esac
`;
