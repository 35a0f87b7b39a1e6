# shellcheck shell=bash
# For the `prepare` scripts. They never fail: for what they cannot fetch they print one line, and the tests that need it are skipped.

# without WHAT WHY: of WHY, which may be the whole output of a program, prints the last line that is not empty.
without() { printf '  without %s: %s\n' "$1" "$(grep -v '^ *$' <<<"$2" | tail -n 1)"; }

# Keeps from run to run what the tests on a machine need; `npm ci` empties node_modules.
host_cache=${HOST_TESTS_CACHE:-/var/cache/scheduled-events-bridge-tests}

# enter_cache WHAT: locks the cache. Ends the script where WHAT cannot be fetched.
enter_cache() {
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    without "$1" 'only root on Debian or Ubuntu can have one'
    exit 0
  fi
  # Not every shell of root has these on its PATH; and other users read the cache, whatever the umask here.
  export PATH=$PATH:/usr/sbin:/sbin
  umask 022
  mkdir -p "$host_cache" && exec 9>"$host_cache/lock" && flock 9
}

# have WHAT PATH FUNCTION: FUNCTION makes it under another name, so that PATH is always complete. A changed recipe needs another number in PATH.
have() {
  local what=$1 to=$2 make=$3 said
  [ -e "$to" ] && return
  rm -rf "$to.new"
  if said=$("$make" "$to.new" 2>&1); then
    mv "$to.new" "$to"
  else
    without "$what" "${said:-it took too long}"
    rm -rf "$to.new"
    return 1
  fi
}

# unpack FOLDER PACKAGE...: unpacks packages of Debian without installing them.
unpack() {
  local to=$1 work status
  shift
  work=$(mktemp -d)
  # apt-get fetches as a user of its own.
  chmod 755 "$work"
  (
    cd "$work" || exit 1
    fetch() { timeout 180 apt-get download "$@"; }
    { fetch "$@" || { timeout 60 apt-get update && fetch "$@"; }; } || exit 1
    for package in *.deb; do dpkg-deb --extract "$package" "$to" || exit 1; done
  )
  status=$?
  rm -rf "$work"
  return "$status"
}

# bootstrap FOLDER SUITE [PACKAGES]: the smallest Debian, and PACKAGES, with commas.
bootstrap() {
  local root=$1 suite=$2 tool=$host_cache/debootstrap-1
  [ -e "$tool" ] || { unpack "$tool.new" debootstrap && mv "$tool.new" "$tool"; } || return 1
  # A new suite is made like the one before it, also by a debootstrap that has not heard of it.
  local scripts=$tool/usr/share/debootstrap/scripts
  [ -e "$scripts/$suite" ] || ln -s sid "$scripts/$suite"
  DEBOOTSTRAP_DIR=${scripts%/scripts} timeout 400 "$tool/usr/sbin/debootstrap" --variant=minbase ${3:+--include="$3"} \
    "$suite" "$root" "$debian" && rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
}
debian=http://deb.debian.org/debian
