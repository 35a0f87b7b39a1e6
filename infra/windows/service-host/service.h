/* The host as a service of Windows, and as a program in a console. */
#ifndef SERVICE_H
#define SERVICE_H

#include <stdbool.h>
#include <windows.h>

/* Runs as a service. @returns false if the service control manager did not start this process. */
bool service_run(void);

/* Runs the bridge in this console until Ctrl+C. @returns the exit code. */
int service_run_in_console(void);

#endif
