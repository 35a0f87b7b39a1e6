/* The pipe on which the bridge says READY=1, WATCHDOG=1, STATUS=… and STOPPING=1: the words of sd_notify, as lines. */
#ifndef NOTIFY_PIPE_H
#define NOTIFY_PIPE_H

#include <stdbool.h>
#include <windows.h>

#include "lines.h"

struct notify_pipe {
    HANDLE pipe;
    OVERLAPPED overlapped; /* its event: something happened on the pipe */
    bool is_connected;
    char bytes[4096];
    struct lines lines;
    WCHAR name[96];
};

/* Makes a pipe that nobody can have made before, and that no ordinary user can open. @returns ERROR_SUCCESS, or why not. */
DWORD notify_pipe_open(struct notify_pipe *notify);

/* After its event: takes what has arrived. Only lines of the process `client` count, whose senders are none of it. */
void notify_pipe_take(struct notify_pipe *notify, DWORD client, line_handler *handle, void *context);

void notify_pipe_close(struct notify_pipe *notify);

#endif
