/* Keeps the bridge running until it is asked to stop, or cannot run. */
#ifndef SUPERVISOR_H
#define SUPERVISOR_H

#include "settings.h"

/*
 * `stop`: an event that asks to stop. `stopping`: called every second while the bridge stops, with the seconds that it may still take.
 * @returns 0, or the exit code after which the bridge is not started again.
 */
DWORD supervise(const struct settings *settings, HANDLE stop, void (*stopping)(DWORD left_s));

#endif
