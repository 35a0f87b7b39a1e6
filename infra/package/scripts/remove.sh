#!/bin/sh
# Stops the service and removes it, with its state unless --keep-state is given.
set -eu
here=$(dirname -- "$(readlink -f -- "$0")")
exec "$here/scheduled-events-bridge" service uninstall "$@"
