/* Who may see and change files and pipes. */
#ifndef ACCESS_H
#define ACCESS_H

#include <stdbool.h>
#include <windows.h>

/* @returns 0 if this process has the rights of an administrator, else 1. */
int access_is_elevated(void);

/* @returns whether this is the system, administrators, the user of this process or the account with this identifier. */
bool access_trusts(PSID owner, const WCHAR *service_sid);

/* @returns 0 if there is no such folder, or if it belongs to one of these; else 1. Its owner can always change its access rights. */
int access_is_trusted(const WCHAR *path, const WCHAR *service_sid);

/* Prints the access control list of a file or folder in the Security Descriptor Definition Language. @returns an exit code. */
int access_print_permissions(const WCHAR *path);

#endif
