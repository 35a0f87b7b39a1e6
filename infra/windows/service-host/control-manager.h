/* What sc.exe cannot do, or prints in the language of the machine. For the installer. */
#ifndef CONTROL_MANAGER_H
#define CONTROL_MANAGER_H

#include <windows.h>

/* Prints the state of a service as lines `Name=value`. @returns an exit code. */
int control_manager_query(const WCHAR *service);

/* Gives a service time to stop before the machine shuts down: it has 10 s otherwise. @returns an exit code. */
int control_manager_set_preshutdown(const WCHAR *service, DWORD timeout_ms);

#endif
