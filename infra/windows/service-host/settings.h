/* Where everything is, and the times. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stdbool.h>
#include <windows.h>

#include "policy.h"

#define SERVICE L"scheduled-events-bridge"
#define LONGEST_PATH 1024

struct settings {
    WCHAR node[LONGEST_PATH];
    WCHAR script[LONGEST_PATH];
    WCHAR config[LONGEST_PATH];
    WCHAR data[LONGEST_PATH];
    WCHAR cache[LONGEST_PATH];
    WCHAR logs[LONGEST_PATH];
    WCHAR log[LONGEST_PATH];
    WCHAR state[LONGEST_PATH];
    struct restart_times restart;
    DWORD stop_s;
    DWORD watchdog_s;
    DWORD start_s;
    DWORD memory_mb;
    DWORD log_kb;
};

/* `service`: whose Parameters key is read. @returns null, or why not. */
const WCHAR *settings_read(struct settings *settings, const WCHAR *service);

#endif
