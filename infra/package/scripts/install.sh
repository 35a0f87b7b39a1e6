#!/bin/sh
# Installs this package as a service, or updates to it: install.sh [CONFIGURATION] [OPTION...]
# update.sh is the same file, and its name decides what it does: update.sh leaves a disabled service disabled.
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
# Run by the shell, so that it can report an error even on a file system mounted with noexec.
exec sh "$here/scheduled-events-bridge" service "${name%.sh}" --from "$here" "$@"
