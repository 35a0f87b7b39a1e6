#!/bin/sh
# Installs this package as a service, or updates to it: install.sh [CONFIGURATION] [OPTION...]
# update.sh is the same file, and does as it is called: a service that somebody has disabled stays so.
set -eu
self=$(readlink -f -- "$0")
here=$(dirname -- "$self")
name=${self##*/}
case ${1-} in
'' | -*) ;;
*)
  configuration=$1
  shift
  set -- --config "$configuration" "$@"
  ;;
esac
# By the shell: on a file system without exec it still says what is wrong.
exec sh "$here/scheduled-events-bridge" service "${name%.sh}" --from "$here" "$@"
