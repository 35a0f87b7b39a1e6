/* The bridge as a process in a job: all that it starts ends with it, and it ends with the host. */
#ifndef CHILD_H
#define CHILD_H

#include "notify-pipe.h"
#include "settings.h"

struct child {
    DWORD pid;
    HANDLE process;
    HANDLE job;
    HANDLE input;         /* its standard input: closed to ask it to stop */
    HANDLE output;        /* what it prints */
    HANDLE output_reader; /* the thread that reads it */
    struct notify_pipe notify;
};

/* Once, before the first start: what the bridge finds in its environment. */
void child_prepare_environment(const struct settings *settings);

/* @returns ERROR_SUCCESS, or why not; `what` says what failed. `use_output` is called by another thread. */
DWORD child_start(struct child *child, const struct settings *settings, line_handler *use_output, const WCHAR **what);

void child_ask_to_stop(struct child *child);

/* Ends the bridge and all that it started. */
void child_kill(struct child *child);

/* Ends what is left of it, waits until all that it printed is used, and closes it. @returns its exit code. */
DWORD child_close(struct child *child);

#endif
