#!/bin/sh
# Installs this package as a service, or updates to it: install.sh [CONFIGURATION] [OPTION...]
set -eu
here=$(dirname -- "$(readlink -f -- "$0")")
case ${1-} in
'' | -*) ;;
*)
  configuration=$1
  shift
  set -- --config "$configuration" "$@"
  ;;
esac
exec "$here/scheduled-events-bridge" service install --from "$here" "$@"
