#!/bin/sh
# Updates the service to this package; one that is disabled stays so: update.sh [CONFIGURATION] [OPTION...]
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
exec "$here/scheduled-events-bridge" service update --from "$here" "$@"
