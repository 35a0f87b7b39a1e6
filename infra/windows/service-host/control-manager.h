/* What sc.exe cannot do, or prints in the language of the machine. For the installer. */
#ifndef CONTROL_MANAGER_H
#define CONTROL_MANAGER_H

#include <windows.h>

/* Prints the state of a service as lines `Name=value`. @returns an exit code. */
int control_manager_query(const WCHAR *service);

/* Gives a service time to stop before the machine shuts down: it has 10 s otherwise. @returns an exit code. */
int control_manager_set_preshutdown(const WCHAR *service, DWORD timeout_ms);

/* @returns 0 if this process has the rights of an administrator, else 1. */
int control_manager_is_elevated(void);

/*
 * @returns 0 if there is no such folder, or if it belongs to the system, administrators, the user of this process or the account with this
 * identifier; else 1. Its owner can always change its access rights.
 */
int control_manager_is_trusted(const WCHAR *path, const WCHAR *service_sid);

#endif
