#!/bin/sh
# Stops the service and removes it; its state too, but for --keep-state.
set -eu
here=$(dirname -- "$(readlink -f -- "$0")")
exec "$here/scheduled-events-bridge" service uninstall "$@"
